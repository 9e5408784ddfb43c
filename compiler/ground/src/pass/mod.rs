//! The parts that all pipelines have in common: passes, analyses, hooks, log points, and the trace.
//!
//! A level brings its passes as a table of [`Pass`]; [`Pipeline::run`] does the rest. It asks the options
//! which passes to skip and where to stop, and tells the hook. It keeps analyses as long as they hold, and
//! has the level tidied.

pub mod analysis;
pub mod cx;
pub mod difference;
pub mod hook;
pub mod log;
pub mod machine;
pub mod options;
pub mod pipeline;
pub mod printer;
pub mod timer;
pub mod trace;
pub mod trip;

pub use analysis::{Analyses, Analysis};
pub use cx::PassCx;
pub use difference::{ComparedLine, Difference, DifferenceMark};
pub use hook::{Hook, LevelView, NoHook, Step, StepKind};
pub use log::{LogEntry, LogPoint, LogValue};
pub use machine::{Cache, GpuModel, MachineModel};
pub use options::{CodeGenerator, DecisionLimit, Device, GpuForm, PassOptions};
pub use pipeline::{Level, Pass, Pipeline, Watch, show_first};
pub use printer::Printer;
pub use timer::{TimedStep, Timer};
pub use trace::{Snapshot, Trace, TraceItem, TraceNode, TraceStep};
pub use trip::{Notes, Trip, check};
