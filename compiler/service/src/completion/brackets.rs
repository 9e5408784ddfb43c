//! Completions inside brackets: of calls, intervals, regions, offsets and annotations.

use super::{CompletionSite, Completions, Item, ItemKind, item};
use crate::analysis::Type;
use crate::facts::VariableKind;
use crate::scopes::SymbolKind;
use crate::signature::{OpenCall, is_callable};
use crate::words::{AXIS_OFFSETS, WordKind, axis_offset, word_named};
use isobar_front::frontend::docstring::{about_parameter, docstring};
use isobar_ground::space::{Axis, AxisSet};

impl CompletionSite<'_> {
    pub(super) fn inside(mut self, call: &OpenCall<'_>) -> Completions {
        match (call.name, call.bracket) {
            ("computation", "(") => {
                for name in ["PARALLEL", "FORWARD", "BACKWARD"] {
                    if let Some(word) = word_named(name) {
                        self.push_word(word);
                        if let Some(item) = self.items.last_mut() {
                            item.detail = "order of the levels".to_owned();
                        }
                    }
                }
                return self.done();
            }
            ("interval", "(") if call.keyword.is_none() => return self.intervals(call),
            ("horizontal", "(") => {
                if let Some(word) = word_named("region") {
                    self.push_word(word);
                }
                for (label, about) in [
                    ("region[I[0], :]", "the first column along I"),
                    ("region[I[-1], :]", "the last column along I"),
                    ("region[:, J[0]]", "the first row along J"),
                    ("region[:, J[-1]]", "the last row along J"),
                ] {
                    self.items.push(item(label, ItemKind::Range, about, ""));
                }
                return self.done();
            }
            ("region", "[") => return self.regions(call),
            ("Field" | "GlobalTable", "[") => {
                self.push_words(|it| it.kind == WordKind::Axis && it.name.len() > 1);
                self.types();
                return self.done();
            }
            (_, "[") => {
                if let Some(axes) = self.field_at(call.at) {
                    return self.offsets(call, axes);
                }
            }
            (_, "(") if self.is_header(call) => {
                let last = self.before.last().copied();
                if last.is_some_and(|it| it.is(self.text, ":")) {
                    self.types();
                } else if last.is_some_and(|it| it.is(self.text, "=")) {
                    self.names();
                }
                return self.done();
            }
            (_, "(") => self.arguments(call),
            _ => {}
        }
        self.names();
        self.done()
    }

    /// Whether a bracket holds the parameters of a `def`.
    fn is_header(&self, call: &OpenCall<'_>) -> bool {
        let name = self.before.partition_point(|it| it.start < call.at);
        name.checked_sub(1).is_some_and(|it| self.before[it].is_word(self.text, "def"))
    }

    /// Replaces all that stands between the bracket and the caret.
    fn whole(
        mut self,
        call: &OpenCall<'_>,
        close: char,
        all: Vec<(String, ItemKind, String)>,
    ) -> Completions {
        let from = self.text.get(call.at as usize..self.offset as usize).unwrap_or("");
        let Some(inner) = from.find(call.bracket) else { return self.done() };
        let typed = from.get(inner + 1..).unwrap_or("");
        self.start = call.at + u32::try_from(inner + 1 + typed.len() - typed.trim_start().len()).unwrap_or(0);
        let plain = |it: &str| it.split_whitespace().collect::<String>();
        let rest = self.text.get(self.offset as usize..).unwrap_or("");
        let is_closed = rest.trim_start_matches([' ', '\t']).starts_with(close);
        for (label, kind, detail) in all {
            if plain(&label).starts_with(&plain(typed)) {
                let insert = if is_closed { label.clone() } else { format!("{label}{close}") };
                self.items.push(Item { label, kind, detail, about: String::new(), insert });
            }
        }
        self.done()
    }

    fn intervals(self, call: &OpenCall<'_>) -> Completions {
        let all = [
            ("...", "all levels"),
            ("0, 1", "the first level"),
            ("1, None", "all levels but the first"),
            ("0, -1", "all levels but the last"),
            ("-1, None", "the last level"),
            ("1, -1", "all levels between the first and the last"),
            ("0, None", "from the first level to the end"),
        ];
        let all = all.map(|(label, about)| (label.to_owned(), ItemKind::Range, about.to_owned()));
        self.whole(call, ')', all.into())
    }

    fn regions(self, call: &OpenCall<'_>) -> Completions {
        let mut sides: [Vec<(String, String)>; 2] = [Vec::new(), Vec::new()];
        for (axis, side) in [Axis::I, Axis::J].into_iter().zip(&mut sides) {
            let what = if axis == Axis::I { "column" } else { "row" };
            side.push((format!("{axis}[0]"), format!("the first {what}")));
            side.push((format!("{axis}[-1]"), format!("the last {what}")));
            for name in AXIS_OFFSETS {
                let is_along = name.contains(['i', 'j'][axis.index()]) && self.is_in_scope(name);
                if let Some(about) = axis_offset(name).filter(|_| is_along) {
                    side.push((name.to_owned(), about.to_owned()));
                }
            }
            side.push((format!("{axis}[0] - 1"), format!("the {what} before the first")));
            side.push((format!("{axis}[-1] + 1"), format!("the {what} behind the last")));
        }
        let [of_i, of_j] = sides;
        let mut all = Vec::new();
        for (label, about) in &of_i {
            all.push((format!("{label}, :"), ItemKind::Range, about.clone()));
        }
        for (label, about) in &of_j {
            all.push((format!(":, {label}"), ItemKind::Range, about.clone()));
        }
        for (i, j) in [("I[0]", "J[0]"), ("I[0]", "J[-1]"), ("I[-1]", "J[0]"), ("I[-1]", "J[-1]")] {
            all.push((format!("{i}, {j}"), ItemKind::Range, "a corner".to_owned()));
        }
        if call.n_before == 1 {
            // Whatever stands for I: what J may be.
            let typed = self.text.get(call.at as usize..self.offset as usize).unwrap_or("");
            if let Some(first) =
                typed.find(call.bracket).and_then(|it| typed.get(it + 1..)?.split(',').next())
            {
                let first = first.trim();
                all.clear();
                all.extend(
                    of_j.iter()
                        .map(|(label, about)| (format!("{first}, {label}"), ItemKind::Range, about.clone())),
                );
                all.push((format!("{first}, :"), ItemKind::Range, "all rows".to_owned()));
            }
        }
        self.whole(call, ']', all)
    }

    fn offsets(self, call: &OpenCall<'_>, axes: AxisSet) -> Completions {
        let axes: Vec<Axis> = axes.iter().collect();
        let spelled = |moved: Option<(usize, i32)>| {
            let each = (0..axes.len()).map(|at| match moved {
                Some((axis, by)) if axis == at => by.to_string(),
                _ => "0".to_owned(),
            });
            each.collect::<Vec<_>>().join(", ")
        };
        let mut all = vec![(spelled(None), ItemKind::Offset, "the point itself".to_owned())];
        for by in [-1, 1, -2, 2] {
            for (at, axis) in axes.iter().enumerate() {
                // No word for the direction: in many models the first level is at the top.
                all.push((spelled(Some((at, by))), ItemKind::Offset, format!("{axis}{by:+}")));
            }
        }
        self.whole(call, ']', all)
    }

    fn arguments(&mut self, call: &OpenCall<'_>) {
        let Some(found) = self.analysis.index.at(self.file, call.at) else { return };
        let id = self.analysis.index.scopes.behind(found.symbol);
        if !is_callable(self.analysis, id) || call.keyword.is_some() {
            return;
        }
        let Some(def) = self.analysis.function(id) else { return };
        let about = docstring(def).unwrap_or_default();
        for (at, param) in def.params.iter().enumerate() {
            let name = &param.name.name;
            let is_passed =
                at < call.n_before && !param.is_keyword_only || call.given.contains(&name.as_str());
            if name.is_empty() || is_passed {
                continue;
            }
            let detail = param.annotation.as_ref().map_or("", |it| self.analysis.text_of(it.span));
            let about = about_parameter(&about, name).unwrap_or_default();
            self.items.push(item(format!("{name}="), ItemKind::Argument, detail, about));
        }
    }

    /// The axes of the field that is named there.
    fn field_at(&self, at: u32) -> Option<AxisSet> {
        let id = self.analysis.index.at(self.file, at)?.symbol;
        let symbol = self.analysis.index.scopes.symbol(id);
        let is_variable = matches!(
            symbol.kind,
            SymbolKind::Parameter | SymbolKind::Argument | SymbolKind::Temporary | SymbolKind::Local
        );
        if !is_variable {
            return None;
        }
        if let Some((facts, _)) = self.analysis.facts_of(id) {
            match facts.first()?.what {
                VariableKind::Parameter { axes, .. } | VariableKind::Temporary { axes, .. } => {
                    return Some(axes);
                }
                VariableKind::Scalar { .. } => return None,
            }
        }
        match self.analysis.types.get(&id) {
            Some(Type::Field { axes, is_table: false, .. }) => Some(*axes),
            Some(Type::Field { .. } | Type::Scalar(_)) => None,
            None => Some(AxisSet::IJK),
        }
    }
}
