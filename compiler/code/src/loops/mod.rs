//! Loops and statements over elements, from which all code generators of the graph start.
//!
//! Maps and loop regions are loops, tasklets are assignments, and each name means one thing in the whole
//! program. The passes of this level decide how a processor runs a loop. They move statements before it,
//! choose its lanes, and decide how rows are stored and prefetched. Code generators write that down. This
//! level knows no text of a target, and no layout beyond the one that the graph knows.

pub mod nodes;
pub mod visit;
pub mod analysis;
pub mod from_sdfg;
pub mod print;
pub mod parse;
pub mod validate;
pub mod passes;

mod reserved;

use crate::pass::{NoHook, PassOptions, Watch};
use crate::sdfg::nodes::Sdfg;
use crate::target::Target;

pub use from_sdfg::lower;
pub use nodes::Program;

/// A valid graph as a program for a target, after all passes.
#[must_use]
pub fn ready(sdfg: &Sdfg, target: &Target) -> Program {
    let mut program = lower(sdfg);
    let options = PassOptions::default();
    let mut watch = Watch { hook: &mut NoHook, options: &options, trace: None };
    passes::PIPELINE.run(&mut program, target.clone(), &mut watch);
    program
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{lower, parse, print, validate};
    use crate::sdfg::file::{import::from_json, json};
    use crate::sdfg::{from_schedule, passes};
    use isobar_middle::samples;

    #[test]
    fn each_step_tells_what_it_writes_and_where_that_stands() {
        let about = lower(&from_schedule::lower(&samples::copy_scale())).about(0);
        assert_eq!((about.writes.as_slice(), about.spans.len()), (&["q_out".to_owned()][..], 1));
    }

    /// Tiles whose stages hand on a window, and columns with arrays of their own.
    const GRID: &str = "\
schedule grid
field a: float64[I + 2, J, K] shift [1, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[34, 8] shift [-i_tile + 1, -j_tile] along IJ in i_tile shared
temporary x: float64[K] shift [0] along K in i over b
grid j_tile in [0, J) step 8 parallel:
  grid i_tile in [0, I) step 32 parallel:
    for k in [0, K) ascending:
      block j in [j_tile, min(J, j_tile + 8)) parallel:
        block i in [i_tile - 1, min(I + 1, i_tile + 33)) parallel:
          t[i - i_tile + 1, j - j_tile] = a[i + 1, j, k]
      barrier
      block j in [j_tile, min(J, j_tile + 8)) parallel:
        block i in [i_tile, min(I, i_tile + 32)) parallel:
          b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 2, j - j_tile]
      barrier
grid j in [0, J) parallel:
  grid i_tile in [0, I) step 32 parallel:
    block i in [i_tile, min(I, i_tile + 32)) parallel:
      for k in [0, K) ascending:
        x[k] = a[i + 1, j, k]
      for k in [0, K) descending:
        b[i, j, k] = x[k]
";

    #[test]
    fn barriers_and_places_come_down_from_the_schedule() {
        let mut graph = from_schedule::lower(&samples::parsed(GRID));
        let mut cx = passes::PassCx::new(());
        for pass in passes::PASSES {
            pass.apply(&mut graph, &mut cx, None);
        }
        let program = lower(&graph);
        assert_eq!(validate::validate(&program), Vec::<String>::new());
        let text = print::listing(&program).text;
        let again = parse::parse(&text).expect("it is a program");
        assert_eq!(print::listing(&again).text, text);
        expect![[r#"
            program grid(a, b)
            field a: float64[I + 2, J, K] shift [1, 0, 0] along IJK given read
            field b: float64[I, J, K] shift [0, 0, 0] along IJK given write
            temporary t: float64[34, 8] shift [-i_tile + 1, -j_tile] along IJ packed private as shared of grid
            temporary x: float64[K] shift [0] along K packed private over b of block

            function step_1() of step 1:
              for j_tile in [0, J) step 8 parallel grid:
                for i_tile in [0, I) step 32 parallel grid:
                  for k in [0, K) ascending:
                    for j in [j_tile, min(J, j_tile + 8)) parallel block:
                      for i in [i_tile - 1, min(I + 1, i_tile + 33)) parallel block:
                        t[i - i_tile + 1, j - j_tile] = a[i, j, k]
                    barrier
                    for j in [j_tile, min(J, j_tile + 8)) parallel block:
                      for i in [i_tile, min(I, i_tile + 32)) parallel block:
                        b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 2, j - j_tile]
                    barrier

            function step_2() of step 2:
              for j in [0, J) parallel grid:
                for i_tile in [0, I) step 32 parallel grid:
                  for i in [i_tile, min(I, i_tile + 32)) parallel block:
                    for k in [0, K) ascending:
                      x[k] = a[i, j, k]
                    for k in [0, K) descending:
                      b[i, j, k] = x[k]

            step step_1
            step step_2
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_file_keeps_barriers() {
        let graph = from_schedule::lower(&samples::parsed(GRID));
        let file = json::to_json(&graph, &[], json::ControlFlowStyle::Regions);
        let read = from_json(&file).expect("it is a graph");
        let barriers = |text: String| text.matches("barrier").count();
        assert_eq!(barriers(crate::sdfg::print::listing(&read).text), 2);
    }
}
