//! A program made ready for one domain: what it needs is there, and what a size makes impossible is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobar_ground::call::array::{Array, Elements};
use isobar_ground::call::launch::{Call, ScalarInput};
use isobar_ground::call::signature::ParamKind;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Label, Span};
use isobar_ground::space::{Axis, Domain};
use isobar_ground::types::Value;
use isobar_reference::front::Front;
use isobar_reference::front::contract::Contract;

use super::arrays::{absent, filled, shape};
use super::calls::origin;
use super::{Answers, CallKey, HaloFill, ProgramInstance};
use crate::analysis::calls::{aliases, written};
use crate::analysis::element_boxes::StencilElements;
use crate::analysis::exchanges::spelled;
use crate::analysis::lifetimes::{shared_memory, whole_groups};
use crate::analysis::unwritten::needing_values;
use crate::nodes::{
    Container, ContainerRole, ExchangeKind, HaloExchange, ProgramIr, ProgramStmtKind, StencilCall,
};
use crate::plan::plan_fault;
use crate::scalar::nodes::ScalarRole;
use crate::stencils::ProgramFronts;

/// An instance with its first state.
pub(super) fn instance(
    program: &ProgramIr,
    fronts: &mut ProgramFronts,
    domain: [i64; 3],
    (fill, most_bytes): (HaloFill, u64),
    answers: Answers,
) -> Result<ProgramInstance, Vec<Diagnostic>> {
    let found = checked(program, fronts, domain, (most_bytes, answers))?;
    let [i, j, k] = domain;
    let domain = Domain::new(i, j, k);
    let first = program.containers.values().map(|it| match it.role {
        ContainerRole::State(value) => filled(it, domain, value),
        ContainerRole::Argument | ContainerRole::Constant | ContainerRole::Local => absent(it.dtype),
    });
    let scalars = program.scalars.values().map(|it| match it.role {
        ScalarRole::Constant(value) | ScalarRole::State(value) => value,
        ScalarRole::Argument | ScalarRole::Local => Value::undefined(it.dtype),
    });
    Ok(ProgramInstance {
        domain,
        fill,
        fronts: found,
        arrays: first.collect(),
        lent: BTreeMap::new(),
        scalars: scalars.collect(),
        begun: BTreeSet::new(),
        needing: needing_values(program, &StencilElements::of(program, fronts)),
        written: written(program),
        memory: None,
        begun_locals: Vec::new(),
        last_run: None,
        program: program.clone(),
    })
}

/// The stencils of a program's calls, where all that it needs is there on a domain.
pub(super) fn checked(
    program: &ProgramIr,
    fronts: &mut ProgramFronts,
    domain: [i64; 3],
    (most_bytes, answers): (u64, Answers),
) -> Result<BTreeMap<CallKey, Arc<Front>>, Vec<Diagnostic>> {
    let [i, j, k] = domain;
    if domain.iter().any(|it| !(1..=Domain::MAX_ALONG_AXIS).contains(it)) {
        let what = format!("the domain is {i}x{j}x{k}");
        let help = format!("give from 1 to {} points along each axis", Domain::MAX_ALONG_AXIS);
        return Err(vec![catalog::run_input(&what, &help)]);
    }
    let domain = Domain::new(i, j, k);
    let mut wrong = sizes(program, domain, (most_bytes, answers != Answers::None));
    let mut found = BTreeMap::new();
    // Making a contract takes longer than a check against it, and few stencils have many calls.
    let mut contracts: BTreeMap<CallKey, Option<Contract>> = BTreeMap::new();
    let mut check = |kind: &ProgramStmtKind, span| match kind {
        ProgramStmtKind::Call(call) => {
            let key = (call.stencil, aliases(program, call));
            match fronts.unified(&program.stencils[call.stencil], &key.1) {
                Ok(front) => {
                    let contract = contracts.entry(key.clone()).or_insert_with(|| front.contract());
                    if let Some(contract) = contract {
                        wrong.extend(call_faults(program, call, contract, (domain, span)));
                    }
                    found.insert(key, front);
                }
                Err(refused) => wrong.extend(refused.into_iter().map(|it| it.also(span, "called here"))),
            }
        }
        ProgramStmtKind::Exchange(it) => match it.plan {
            None => wrong.extend(exchange_faults(program, it, answers, (domain, span))),
            Some(_) if answers == Answers::Exchanges => {}
            Some(plan) => {
                let what = || format!("the exchange of `{}`", spelled(program, &it.fields));
                if answers == Answers::None {
                    let why = "this run has one rank, and it exchanges with others";
                    wrong.push(catalog::unsupported(&what(), why, span));
                } else if let Some(why) = plan_fault(program, &it.fields, plan, &|it| {
                    shape(&program.containers[it.container], domain)
                }) {
                    wrong.push(catalog::unsupported(&what(), &why, span));
                }
            }
        },
        ProgramStmtKind::Host { .. } if answers != Answers::None => {}
        ProgramStmtKind::Host { name, .. } => {
            let why = "this compiler calls nothing outside of a program";
            wrong.push(catalog::unsupported(&format!("the callback `{name}`"), why, span));
        }
        _ => {}
    };
    program.body.iter().for_each(|it| it.walk(&mut |it| check(&it.kind, it.span)));
    wrong.dedup();
    if wrong.is_empty() { Ok(found) } else { Err(wrong) }
}

/// The bytes of the fields of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramBytes {
    /// Of arguments and constants.
    pub given: u64,
    /// Of its state and its locals.
    pub own: u64,
}

impl ProgramBytes {
    /// The bytes on a domain, where each local has an array of its own.
    #[must_use]
    pub fn of(program: &ProgramIr, domain: Domain) -> Self {
        let mut all = Self::default();
        for it in program.containers.values() {
            let bytes = bytes_of(it, domain);
            let sum = match it.role {
                ContainerRole::Argument | ContainerRole::Constant => &mut all.given,
                ContainerRole::State(_) | ContainerRole::Local => &mut all.own,
            };
            *sum = sum.saturating_add(bytes);
        }
        all
    }

    /// Of one field on a domain.
    #[must_use]
    pub fn of_container(container: &Container, domain: Domain) -> u64 {
        bytes_of(container, domain)
    }

    /// The most bytes on a domain, where locals share memory, as those of compiled code do.
    #[must_use]
    pub fn sharing(program: &ProgramIr, fronts: &mut ProgramFronts, domain: Domain) -> Self {
        let alone = needing_values(program, &StencilElements::of(program, fronts));
        let groups = whole_groups(program);
        let elements = |it: &Container| shape(it, domain).into_iter().fold(1, usize::saturating_mul);
        let plan = shared_memory(program, &groups, &elements, &|it| alone.contains(&it));
        let mut all = Self::of(program, domain);
        for (handle, it) in program.containers.iter().filter(|it| plan.memory_of[it.0.index()].is_some()) {
            all.own = all.own.saturating_sub(bytes_of(it, domain));
            let is_first = plan.largest.contains(&handle);
            all.own = all.own.saturating_add(if is_first { bytes_of(it, domain) } else { 0 });
        }
        all
    }

    /// Of all fields together.
    #[must_use]
    pub fn sum(self) -> u64 {
        self.given.saturating_add(self.own)
    }
}

fn bytes_of(container: &Container, domain: Domain) -> u64 {
    let n = shape(container, domain).into_iter().map(|it| it as u64).fold(1, u64::saturating_mul);
    n.saturating_mul(container.dtype.size_bytes() as u64)
}

/// Sizes that are negative on the domain, and fields that take too much memory together. Where a caller `has_fields`, as
/// those that answer callbacks, they have their memory already.
fn sizes(program: &ProgramIr, domain: Domain, (most_bytes, has_fields): (u64, bool)) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for it in program.containers.values() {
        if let Some(size) = it.shape.iter().find(|it| it.on(domain) < 0) {
            let what = format!("the size {size} of `{}` is negative on {domain}", it.name);
            wrong.push(catalog::run_input(&what, "give a larger domain"));
        }
    }
    for it in program.stencils.values() {
        if let Some(size) = it.domain.iter().find(|it| it.on(domain) < 0) {
            let what = format!("the size {size} of the range of `{}` is negative on {domain}", it.name);
            wrong.push(catalog::run_input(&what, "give a larger domain"));
        }
    }
    let bytes = ProgramBytes::of(program, domain);
    let bytes = if has_fields { bytes.own } else { bytes.sum() };
    if bytes > most_bytes {
        let what = format!("the fields take {bytes} bytes, and {most_bytes} are the most");
        wrong.push(catalog::run_input(&what, "give a smaller domain, or allow more memory"));
    }
    wrong
}

/// The faults of a call on the domain, by arrays of one element each that have the shapes of the real ones.
fn call_faults(
    program: &ProgramIr,
    call: &StencilCall,
    contract: &Contract,
    (domain, span): (Domain, Span),
) -> Vec<Diagnostic> {
    let stencil = &program.stencils[call.stencil];
    let mut given = Call { domain: Some(stencil.domain.map(|it| it.on(domain))), ..Call::default() };
    for (at, param) in contract.signature.params.iter().enumerate() {
        match (&param.kind, call.field(at)) {
            (ParamKind::Scalar { dtype, .. }, _) => {
                given.scalars.insert(param.name.clone(), ScalarInput::Typed(Value::zero(*dtype)));
            }
            (ParamKind::Field { dtype, .. }, Some(part)) => {
                let container = &program.containers[part.container];
                let mut shape = shape(container, domain);
                let n_axes = container.axes.len();
                shape.drain(n_axes..n_axes + part.data_index.len());
                let strides = vec![0; shape.len()];
                let array = Array { elements: Elements::zeros(*dtype, 1), first: 0, shape, strides };
                given.fields.insert(param.name.clone(), array);
                let origin = origin(program, call, at);
                let of_axes = container.axes.iter().map(|it| origin[it.index()]).collect();
                given.origin.insert(param.name.clone(), of_axes);
            }
            (ParamKind::Field { .. }, None) => {}
        }
    }
    let Err(wrong) = contract.bind_shared(given) else { return Vec::new() };
    let placed = |it: Diagnostic| {
        let label = Label { span, text: format!("on a domain of {domain}") };
        Diagnostic { primary: it.primary.or(Some(label)), ..it }
    };
    wrong.into_iter().map(placed).collect()
}

fn exchange_faults(
    program: &ProgramIr,
    exchange: &HaloExchange,
    answers: Answers,
    (domain, span): (Domain, Span),
) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    // Without faces beside it, components of vectors do not turn.
    if exchange.kind == ExchangeKind::Interface && answers != Answers::Exchanges {
        let what = format!("an exchange of kind `{}`", exchange.kind.name());
        let why = "it is between ranks, and this run has none: give it a layout, as `--layout 1,1`";
        wrong.push(catalog::unsupported(&what, why, span));
    }
    for part in &exchange.fields {
        let container = &program.containers[part.container];
        for (axis, size) in container.axes.iter().zip(&container.shape).filter(|it| it.0 != Axis::K) {
            let end = container.end_of_points(axis).on(domain) + i64::from(exchange.width);
            let lacks = end - size.on(domain);
            if lacks > 0 {
                let name = part.spelled(program);
                wrong.push(catalog::field_too_small(&name, "exchange", axis.name(), "end", lacks, span));
            }
        }
    }
    wrong
}
