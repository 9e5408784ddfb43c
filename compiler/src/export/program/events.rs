//! The statements that a program leaves to its caller: callbacks, and exchanges between ranks.

use std::collections::BTreeMap;

use isobar_program::interpret::Answers;
use isobar_program::nodes::{
    Container, ContainerPart, HaloExchange, ProgramIr, ProgramStmt, ProgramStmtKind,
};
use isobar_program::scalar::nodes::ScalarVariable;

use super::super::names::Names;
use crate::call::signature::Signature;
use crate::entity::Handle;
use crate::pipeline::whole::WholeProgram;
use crate::types::DType;

/// A statement that the caller carries out. The phases of an exchange are one.
#[derive(Debug)]
pub(in crate::export) struct CallerStatement {
    pub(in crate::export) what: CallerTask,
    pub(in crate::export) fields: Vec<CallerField>,
    /// The scalars that a callback gives.
    pub(in crate::export) values: Vec<CallerValue>,
}

/// A task of the caller.
#[derive(Debug)]
pub(in crate::export) enum CallerTask {
    Callback(String),
    Exchange {
        /// The name of its plan, if it has one.
        plan: String,
        exchange: HaloExchange,
    },
}

/// A field of such a statement, under the name that it has in all languages.
#[derive(Debug)]
pub(in crate::export) struct CallerField {
    pub(in crate::export) name: String,
    pub(in crate::export) part: ContainerPart,
    pub(in crate::export) dtype: DType,
    pub(in crate::export) rank: usize,
    pub(in crate::export) is_written: bool,
}

/// A scalar that a callback gives.
#[derive(Debug)]
pub(in crate::export) struct CallerValue {
    pub(in crate::export) name: String,
    pub(in crate::export) dtype: DType,
    pub(in crate::export) variable: Handle<ScalarVariable>,
}

/// The names of fields, scalars and callbacks in all languages.
struct CallerNames<'p> {
    program: &'p ProgramIr,
    fields: BTreeMap<Handle<Container>, String>,
    callbacks: QuotedNames<'p>,
    plans: QuotedNames<'p>,
}

/// Names that stand in texts alone, and so may be words of any language.
#[derive(Default)]
struct QuotedNames<'p> {
    chosen: BTreeMap<&'p str, String>,
}

impl<'p> QuotedNames<'p> {
    /// The name in letters of ASCII, digits, dots and underscores; a number behind it tells it from others.
    fn choose(&mut self, wanted: &'p str) -> String {
        if let Some(known) = self.chosen.get(wanted) {
            return known.clone();
        }
        let is_kept = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_');
        let base: String = wanted.chars().map(|it| if is_kept(it) { it } else { '_' }).take(200).collect();
        let is_free = |name: &String| self.chosen.values().all(|it| it != name);
        let mut others = (2..).map(|number: u32| format!("{base}_{number}"));
        let name = Some(base.clone()).filter(is_free).or_else(|| others.find(is_free)).unwrap_or_default();
        self.chosen.insert(wanted, name.clone());
        name
    }
}

impl<'p> CallerNames<'p> {
    /// Fields of the caller keep the names of their parameters.
    fn of(program: &'p ProgramIr, signature: &Signature) -> Self {
        let mut used = Names::default();
        let given: BTreeMap<&str, String> =
            signature.params.iter().map(|it| (it.name.as_str(), used.choose(&it.name))).collect();
        let mut fields = BTreeMap::new();
        for (handle, it) in program.containers.iter() {
            let name = given.get(it.name.as_str()).cloned().unwrap_or_else(|| used.choose(&it.name));
            fields.insert(handle, name);
        }
        Self { program, fields, callbacks: QuotedNames::default(), plans: QuotedNames::default() }
    }

    fn field(&self, part: &ContainerPart, is_written: bool) -> CallerField {
        let container = &self.program.containers[part.container];
        CallerField {
            name: self.fields[&part.container].clone(),
            part: part.clone(),
            dtype: container.dtype,
            rank: container.axes.len() + part.data_dims(self.program).len(),
            is_written,
        }
    }
}

/// All statements of a program that its caller carries out, in the order of the text. Their positions are their numbers.
pub(in crate::export) fn caller_statements(code: &WholeProgram) -> Vec<CallerStatement> {
    let mut names = CallerNames::of(&code.program, &code.signature);
    let mut found: Vec<CallerStatement> = Vec::new();
    for stmt in in_order(&code.program.body) {
        match &stmt.kind {
            ProgramStmtKind::Host { name, reads, writes, gives, .. } => {
                let read = reads.iter().filter(|it| !writes.contains(it)).map(|it| names.field(it, false));
                let fields: Vec<CallerField> =
                    read.chain(writes.iter().map(|it| names.field(it, true))).collect();
                let mut own = QuotedNames::default();
                let values = gives.iter().map(|&variable| {
                    let scalar = &code.program.scalars[variable];
                    CallerValue { name: own.choose(&scalar.name), dtype: scalar.dtype, variable }
                });
                let values = values.collect();
                found.push(CallerStatement {
                    what: CallerTask::Callback(names.callbacks.choose(name)),
                    fields,
                    values,
                });
            }
            ProgramStmtKind::Exchange(exchange)
                if code.answers == Answers::Exchanges && number_of(&found, exchange).is_none() =>
            {
                let fields = exchange.fields.iter().map(|it| names.field(it, true)).collect();
                let plan = exchange.plan.map(|it| names.plans.choose(&code.program.plans[it].name));
                let what =
                    CallerTask::Exchange { plan: plan.unwrap_or_default(), exchange: exchange.clone() };
                found.push(CallerStatement { what, fields, values: Vec::new() });
            }
            _ => {}
        }
    }
    found
}

/// The number of an exchange among the statements of the caller.
pub(super) fn number_of(all: &[CallerStatement], exchange: &HaloExchange) -> Option<usize> {
    all.iter().position(|it| match &it.what {
        CallerTask::Exchange { exchange: known, .. } => known.is_same(exchange),
        CallerTask::Callback(_) => false,
    })
}

/// All statements, in the order of the text.
fn in_order(body: &[ProgramStmt]) -> Vec<&ProgramStmt> {
    let mut all = Vec::new();
    for stmt in body {
        all.push(stmt);
        stmt.blocks().into_iter().for_each(|it| all.extend(in_order(it)));
    }
    all
}

/// A sentence about each of them, for the README.
pub(super) fn notes(all: &[CallerStatement]) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![
        "A function of the caller carries out these statements, by their numbers:".to_owned(),
        String::new(),
        "| number | | fields | gives |\n|---|---|---|---|".to_owned(),
    ];
    let quoted = |it: Vec<&str>| it.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    for (number, it) in all.iter().enumerate() {
        let what = match &it.what {
            CallerTask::Callback(name) => format!("callback `{name}`"),
            CallerTask::Exchange { plan, exchange: it } => {
                let by = if plan.is_empty() { String::new() } else { format!(" by the plan `{plan}`") };
                format!("exchange, {} of width {}{by}", it.kind.name(), it.width)
            }
        };
        let fields = quoted(it.fields.iter().map(|it| it.name.as_str()).collect());
        let values = quoted(it.values.iter().map(|it| it.name.as_str()).collect());
        notes.push(format!("| {number} | {what} | {fields} | {values} |"));
    }
    notes
}
