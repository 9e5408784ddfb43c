//! The steps of a program, with their lines in the text and their times.

use isobar_compiler::pipeline::Compilation;
use isobar_protocol::bench::{GraphStep, Samples};
use isobar_protocol::diagnostic::SpanResolver;

/// The steps of the graph, with the time of each over calls in milliseconds.
pub(super) fn graph_steps(compilation: &Compilation, calls: &[Vec<f64>]) -> Vec<GraphStep> {
    // Interpreters tell no steps, and need no loops.
    if calls.iter().all(Vec::is_empty) { Vec::new() } else { timed(steps_of(compilation), calls) }
}

/// The steps of the graph, without their times.
pub(super) fn steps_of(compilation: &Compilation) -> Vec<GraphStep> {
    let Some(program) = &compilation.levels.loops else { return Vec::new() };
    let places = SpanResolver::new(compilation.front.sources());
    let about = (0..program.steps.len()).map(|at| {
        let about = program.about(at);
        let mut lines: Vec<[u32; 2]> = Vec::new();
        for &span in &about.spans {
            let (_, start, end) = places.of(span);
            match lines.last_mut() {
                Some(last) if start.line <= last[1] + 1 => last[1] = last[1].max(end.line),
                _ => lines.push([start.line, end.line]),
            }
        }
        let step = u32::try_from(at + 1).unwrap_or(u32::MAX);
        GraphStep { step, writes: about.writes, lines, ms: 0.0 }
    });
    about.collect()
}

/// The steps with the times of calls, as far as these have some.
pub(super) fn timed(steps: Vec<GraphStep>, calls: &[Vec<f64>]) -> Vec<GraphStep> {
    let timed = steps.into_iter().enumerate().map_while(|(at, step)| {
        let of_all = calls.iter().filter_map(|it| it.get(at)).copied().collect();
        let ms = Samples::of(of_all)?.median_ms;
        Some(GraphStep { ms, ..step })
    });
    timed.collect()
}
