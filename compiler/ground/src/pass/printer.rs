//! The course of a compilation as text.

use super::hook::{Hook, LevelView, Step, StepKind};
use super::log::LogEntry;

/// Prints each step as it begins, within those around it, what passes report, and the levels, where that is wanted.
#[derive(Clone, Debug)]
pub struct Printer<P> {
    print: P,
    depth: usize,
    prints_levels: bool,
}

impl<P: FnMut(&str)> Printer<P> {
    /// `print` gets line by line, without what ends it.
    pub fn new(print: P) -> Self {
        Self { print, depth: 0, prints_levels: false }
    }

    /// The same with each level before its first pass, and after each pass that changed it.
    #[must_use]
    pub fn with_levels(self) -> Self {
        Self { prints_levels: true, ..self }
    }

    fn line(&mut self, text: &str) {
        let line = format!("{:width$}{text}", "", width = 2 * self.depth);
        (self.print)(line.trim_end());
    }
}

impl<P: FnMut(&str)> Hook for Printer<P> {
    fn begin(&mut self, step: Step) {
        let kind = match step.kind {
            StepKind::Door => "door",
            StepKind::Pipeline => "pipeline",
            StepKind::Pass => "pass",
            StepKind::Analysis => "analysis",
        };
        self.line(&format!("{kind} {step}"));
        self.depth += 1;
    }

    fn end(&mut self, _step: Step) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn show(&mut self, _step: Step, level: &dyn LevelView) {
        if self.prints_levels {
            self.depth += 1;
            level.listing().text.lines().for_each(|it| self.line(it));
            self.depth -= 1;
        }
    }

    fn log(&mut self, logged: &LogEntry) {
        self.line(&format!("{}: {}", logged.point.name, logged.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Listing;
    use crate::pass::{LogPoint, LogValue};

    #[test]
    fn steps_stand_within_those_around_them() {
        let told = |levels: bool| {
            let mut lines: Vec<String> = Vec::new();
            let mut printer = Printer::new(|line: &str| lines.push(line.to_owned()));
            if levels {
                printer = printer.with_levels();
            }
            let step = |kind, name| Step { kind, name };
            let pipeline = step(StepKind::Pipeline, "oir");
            let pass = step(StepKind::Pass, "oir/fold-constants");
            let analysis = step(StepKind::Analysis, "oir/extents");
            printer.begin(pipeline);
            printer.begin(pass);
            printer.begin(analysis);
            printer.end(analysis);
            let point = &LogPoint { name: "folded", about: "expressions" };
            printer.log(&LogEntry { pass: pass.name, point, value: LogValue::Integer(3) });
            printer.end(pass);
            printer.show(pass, &|| Listing { text: "stencil s\n".to_owned(), ..Listing::default() });
            printer.end(pipeline);
            lines
        };
        let steps =
            ["pipeline oir", "  pass oir/fold-constants", "    analysis oir/extents", "    folded: 3"];
        assert_eq!(told(false), steps);
        assert_eq!(told(true), [&steps[..], &["    stencil s"]].concat());
    }
}
