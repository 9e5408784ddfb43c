//! The back ends of this runner: one row each, by which all else lists, checks and runs them.
//!
//! A row joins what the compiler knows of a back end to what makes it run here. A program with more back ends than
//! these starts the runner with [`Backends::with`], and needs no other change.

use std::fmt::{self, Debug, Formatter};

use isobar_compiler::front::stage::{self, StageOrigin};
use isobar_compiler::inputs::Rows;
use isobar_compiler::pipeline::registry::{self, StageListing};
use isobar_compiler::pipeline::{Compilation, Stage};
use isobar_compiler::space::Domain;
use isobar_protocol::request::Request;
pub use isobar_runtime::events;
pub use isobar_runtime::executors::{
    CCompiler, Executor, Failure, Mode, Prepared, Progress, Relayout, RunThreads, Setting, Vectors, along,
    foreign, in_rows, prepare, prepare_compiled,
};
use isobar_runtime::executors::{cuda, interpreters, openmp, rayon, wgpu};
use isobar_runtime::plans::PlanHandle;

use crate::error::ApiError;

/// A back end.
#[derive(Debug)]
pub struct Row {
    /// Its name, its device, the level that it starts from, and the texts that it adds.
    pub of: &'static registry::Backend,
    /// The texts that it makes for the arrays of a call.
    pub codes: &'static [Code],
    /// The artifact that it starts from, which is made on demand; runs tell it as a step.
    pub artifact: Option<ArtifactOfStep>,
    /// The executor that makes it ready and calls it.
    pub executor: fn() -> Box<dyn Executor>,
    /// The tools that it needs, which decide its code as well.
    pub needs: &'static [Tool],
    /// Describes what the back end found here, once its tools are there; otherwise says why it cannot run.
    pub check: fn(&AvailableTools<'_>) -> Result<String, String>,
    /// Whether it runs loops as a schedule says.
    pub follows_schedules: bool,
    /// Whether it is fast enough to be held against copying.
    pub nears_copying: bool,
}

/// A text that is made for the arrays of a call: of this size, with such rows.
#[derive(Debug)]
pub struct Code {
    pub stage: Stage,
    /// Called without errors in the stencil. It may say why there is none.
    pub make: fn(&Compilation, Domain, Rows) -> Result<String, String>,
}

/// An artifact that is made on demand.
#[derive(Debug)]
pub struct ArtifactOfStep {
    /// As the step is told.
    pub step: &'static str,
    /// Makes it; answers whether it is there.
    pub make: fn(&PlanHandle) -> bool,
}

/// Tools that back ends may need beside this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    CCompiler,
}

/// The tools that were found.
#[derive(Clone, Copy, Debug)]
pub struct AvailableTools<'a> {
    /// The C compiler, or why there is none.
    pub cc: &'a Result<CCompiler, String>,
}

impl AvailableTools<'_> {
    /// The version that distinguishes a tool from others of its kind, or why the tool is missing.
    fn version(&self, tool: Tool) -> Result<&str, &String> {
        match tool {
            Tool::CCompiler => self.cc.as_ref().map(|it| it.version.as_str()),
        }
    }
}

const CLIF: Stage = Stage::of(&stage::StageInfo {
    name: "clif",
    title: "CLIF",
    about: "what `rayon` makes for the arrays of a call, before it is machine code",
    from: StageOrigin::Passed(Stage::LOOPS),
    has_passes: false,
});

const DEBUG: Row = Row {
    of: &registry::DEBUG,
    codes: &[],
    artifact: None,
    executor: || Box::new(interpreters::Debug),
    needs: &[],
    check: |_| Ok("interpreter, defines the meaning".to_owned()),
    follows_schedules: false,
    nears_copying: false,
};

const NUMPY: Row = Row {
    of: &registry::NUMPY,
    codes: &[],
    artifact: Some(ArtifactOfStep { step: "npir", make: |it| it.arrays().is_ok() }),
    executor: || Box::new(interpreters::Numpy),
    needs: &[],
    check: |_| Ok("operations on whole arrays".to_owned()),
    follows_schedules: false,
    nears_copying: true,
};

const RAYON: Row = Row {
    of: &registry::RAYON,
    codes: &[Code { stage: CLIF, make: rayon::listing }],
    artifact: None,
    executor: || Box::new(rayon::Rayon),
    needs: &[],
    check: |_| rayon::check().map(|processor| format!("machine code made in process, {processor}")),
    follows_schedules: true,
    nears_copying: true,
};

const OPENMP: Row = Row {
    of: &registry::OPENMP,
    codes: &[],
    artifact: Some(ArtifactOfStep { step: "c", make: |it| openmp::artifact(it).is_ok() }),
    executor: || Box::new(openmp::Openmp),
    needs: &[Tool::CCompiler],
    check: |it| it.version(Tool::CCompiler).map(str::to_owned).map_err(String::clone),
    follows_schedules: true,
    nears_copying: true,
};

const CUDA: Row = Row {
    of: &registry::CUDA,
    codes: &[],
    artifact: Some(ArtifactOfStep { step: "cuda", make: |it| cuda::artifact(it).is_ok() }),
    executor: || Box::new(cuda::Cuda::new()),
    needs: &[],
    check: |_| cuda::check(),
    follows_schedules: false,
    nears_copying: true,
};

const WGPU: Row = Row {
    of: &registry::WGPU,
    codes: &[],
    artifact: Some(ArtifactOfStep { step: "kernels", make: |it| it.kernels().is_ok() }),
    executor: || Box::new(wgpu::Wgpu),
    needs: &[],
    check: |_| wgpu::check(),
    follows_schedules: false,
    nears_copying: true,
};

/// A back end by its row; two with the same name are the same.
#[derive(Clone, Copy)]
pub struct Backend(&'static Row);

impl Backend {
    pub const DEBUG: Backend = Backend(&DEBUG);
    pub const NUMPY: Backend = Backend(&NUMPY);
    pub const RAYON: Backend = Backend(&RAYON);
    pub const OPENMP: Backend = Backend(&OPENMP);
    pub const CUDA: Backend = Backend(&CUDA);
    pub const WGPU: Backend = Backend(&WGPU);

    /// Those of this program itself.
    pub const ALL: [Backend; 6] =
        [Self::DEBUG, Self::NUMPY, Self::RAYON, Self::OPENMP, Self::CUDA, Self::WGPU];

    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.of.name
    }

    /// Whether it can run here.
    ///
    /// # Errors
    ///
    /// The reason why it cannot.
    pub fn check(self, found: &AvailableTools<'_>) -> Result<(), ApiError> {
        self.found(found).map(drop).map_err(|reason| {
            let name = self.name().to_owned();
            ApiError::BackendUnavailable { name, reason }
        })
    }

    /// Describes what the back end found here, or says why it cannot run.
    fn found(self, found: &AvailableTools<'_>) -> Result<String, String> {
        for &tool in self.0.needs {
            found.version(tool).map_err(String::clone)?;
        }
        (self.0.check)(found)
    }

    /// The versions of the tools that decide its code, as part of a key.
    #[must_use]
    pub fn tools(self, found: &AvailableTools<'_>) -> String {
        let versions = self.0.needs.iter().map(|&it| found.version(it).unwrap_or_default());
        versions.collect::<Vec<_>>().join("\n")
    }

    /// Whether it runs loops as a schedule says.
    #[must_use]
    pub fn follows_schedules(self) -> bool {
        self.0.follows_schedules
    }

    /// Whether it is fast enough to be held against copying.
    #[must_use]
    pub fn nears_copying(self) -> bool {
        self.0.nears_copying
    }

    /// Whether another schedule than the compiler's could be faster: of loops, or of launches.
    #[must_use]
    pub fn may_be_tuned(self) -> bool {
        self.follows_schedules() || self.is_on_gpu()
    }

    /// Whether it starts the C compiler.
    #[must_use]
    pub fn starts_compiler(self) -> bool {
        self.0.needs.contains(&Tool::CCompiler)
    }

    /// Whether its kernels run on a GPU.
    #[must_use]
    pub fn is_on_gpu(self) -> bool {
        self.0.of.device == "gpu"
    }

    /// The artifact that it starts from, which the compiler makes only on demand.
    #[must_use]
    pub fn artifact(self) -> Option<&'static ArtifactOfStep> {
        self.0.artifact.as_ref()
    }

    /// The executor that makes it ready and calls it.
    #[must_use]
    pub fn executor(self) -> Box<dyn Executor> {
        (self.0.executor)()
    }
}

impl From<&'static Row> for Backend {
    fn from(row: &'static Row) -> Self {
        Self(row)
    }
}

impl PartialEq for Backend {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Backend {}

impl Debug for Backend {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The back ends that a program has, in the order in which they are listed.
#[derive(Clone, Debug)]
pub struct Backends(Vec<Backend>);

impl Default for Backends {
    /// Those of this program itself.
    fn default() -> Self {
        Self(Backend::ALL.to_vec())
    }
}

impl Backends {
    /// These and one more.
    #[must_use]
    pub fn with(mut self, row: &'static Row) -> Self {
        self.0.push(Backend(row));
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Backend> {
        self.0.iter().copied()
    }

    /// The back end that a request names; machine code made in process where it names none.
    ///
    /// # Errors
    ///
    /// When it names one that is not known.
    pub fn of(&self, request: &Request) -> Result<Backend, ApiError> {
        request.backend.as_deref().map_or(Ok(Backend::RAYON), |it| self.named(it))
    }

    /// The back ends that a request measures, or the one that it runs.
    ///
    /// # Errors
    ///
    /// When it names one that is not known.
    pub fn all_of(&self, request: &Request) -> Result<Vec<Backend>, ApiError> {
        match &request.bench {
            Some(bench) if !bench.backends.is_empty() => {
                let mut found = Vec::new();
                for name in &bench.backends {
                    let it = self.named(name)?;
                    if !found.contains(&it) {
                        found.push(it);
                    }
                }
                Ok(found)
            }
            _ => self.of(request).map(|it| vec![it]),
        }
    }

    fn named(&self, name: &str) -> Result<Backend, ApiError> {
        self.iter().find(|it| it.name() == name).ok_or_else(|| ApiError::UnknownBackend {
            name: name.to_owned(),
            known: self.iter().map(Backend::name).collect(),
        })
    }

    /// All of them, with what they found here or why they cannot run.
    #[must_use]
    pub fn described(&self, found: &AvailableTools<'_>) -> Vec<isobar_protocol::job::Backend> {
        let describe = |it: Backend| {
            let (available, detail) = match it.found(found) {
                Ok(detail) => (true, detail),
                Err(reason) => (false, reason),
            };
            let (name, device) = (it.name().to_owned(), it.0.of.device.to_owned());
            isobar_protocol::job::Backend { name, device, available, detail }
        };
        self.iter().map(describe).collect()
    }

    /// The texts of the levels, and those that back ends add.
    pub fn texts(&self) -> impl Iterator<Item = &'static StageListing> {
        registry::LEVELS.iter().chain(self.0.iter().flat_map(|it| it.0.of.texts))
    }

    /// The texts that back ends make for the arrays of a call.
    pub fn codes(&self) -> impl Iterator<Item = &'static Code> {
        self.0.iter().flat_map(|it| it.0.codes)
    }

    /// The texts that a request wants, in the order of the journey.
    ///
    /// # Errors
    ///
    /// When it names a stage that is not known.
    pub fn wanted(&self, request: &Request) -> Result<Vec<&'static StageListing>, ApiError> {
        let Some(wanted) = &request.stages else { return Ok(self.texts().collect()) };
        let known = || self.texts().map(|it| it.stage.name());
        if let Some(unknown) = wanted.iter().find(|&it| known().all(|known| known != it)) {
            return Err(ApiError::UnknownStage { name: unknown.clone(), known: known().collect() });
        }
        Ok(self.texts().filter(|it| wanted.iter().any(|name| name == it.stage.name())).collect())
    }
}
