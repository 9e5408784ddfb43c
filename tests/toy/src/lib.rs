//! A back end of a few files, made to show the seam: it is this folder and one row, and nobody else names it.
//!
//! It starts from the loops. It adds the text `operations`, which counts what each statement does for one
//! element ([`count`]). It runs by going through the loops as they stand ([`run`]).

mod count;
mod run;

use isobar_compiler::front::stage::{self, StageOrigin};
use isobar_compiler::pipeline::Stage;
use isobar_compiler::pipeline::registry::{Backend, StageListing};
use isobar_runner::backends::Row;

/// The row.
pub const ROW: Row = Row {
    of: &Backend {
        name: "toy",
        device: "cpu",
        from: Stage::LOOPS,
        texts: &[StageListing { stage: OPERATIONS, make: |it| it.levels.loops.as_ref().map(count::listing) }],
    },
    codes: &[],
    artifact: None,
    executor: || Box::new(run::Toy),
    needs: &[],
    check: |_| Ok("goes through the loops one iteration at a time".to_owned()),
    follows_schedules: false,
    nears_copying: false,
};

const OPERATIONS: Stage = Stage::of(&stage::StageInfo {
    name: "operations",
    title: "Operations",
    about: "how many operations each statement takes for one element",
    from: StageOrigin::Passed(Stage::LOOPS),
    has_passes: false,
});
