//! The text of CUDA kernels on a CPU: compiled by g++ behind `tests/emulation`, run as fibers, held against `debug`.
//!
//! The text is the one that NVRTC compiles, and the launches are those of the executor. Many texts are one program,
//! which runs in a process of its own: what crashes there is told, and nothing else ends.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::run::{NoControl, Stop};
use isobar_compiler::cuda::CudaArtifact;
use isobar_compiler::debug;
use isobar_compiler::diag::StmtId;
use isobar_compiler::entity::SideTable;
use isobar_compiler::kernel::Kernels;
use isobar_compiler::kernel::call::{ArrayArgument, ended, places};
use isobar_compiler::kernel::cell::NONE;
use isobar_compiler::loops::nodes::Array;
use isobar_compiler::pass::GpuModel;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_runtime::executors::cuda::plan::{CallPlan, LaunchArgument, ModuleKey, bits};

use crate::against::same_fields;
use crate::agree::prepare::call;
use crate::agree::subject::Subject;
use crate::generate::Features;
use crate::generate::random::Random;
use crate::gpu::hand::{Given, Hand, Planned};
use crate::levels::{DOMAINS, Held};
use crate::native::{Layout, WIDE, shape_of_seed};
use crate::root;

/// Without these the bits are others, or the compiler takes what it does not know to be overwritten for zero.
const FLAGS: [&str; 6] = [
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-ftrivial-auto-var-init=pattern",
    "-w",
];

/// Whether there is a compiler for it.
#[must_use]
pub fn has_compiler() -> bool {
    Command::new("g++").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The text of a stencil's kernels.
#[derive(Debug)]
pub struct Text<'a> {
    pub compilation: &'a Compilation,
    pub kernels: &'a Kernels,
    pub artifact: &'a CudaArtifact,
    places: SideTable<Array, ArrayArgument>,
    /// In place of the artifact's, where a test changes it.
    text: String,
    /// The variant that it is compiled for.
    variant: ModuleKey,
}

impl<'a> Text<'a> {
    /// That of a compilation without errors, for calls like these.
    ///
    /// # Errors
    ///
    /// Where there are no kernels, or a call cannot be planned.
    pub fn of(compilation: &'a Compilation, launches: &[Launch], is_wide: bool) -> Result<Self> {
        let kernels = compilation.kernels().context("there are no kernels")?;
        let artifact = compilation.cuda().context("there is no CUDA")?;
        let interface = compilation.front.signature.as_ref().context("there is no signature")?;
        let places = places(kernels, interface);
        let text = artifact.listing.text.clone();
        let mut is_unit = true;
        for launch in launches.iter().filter(|it| it.domain.points() > 0) {
            is_unit &= planned(kernels, artifact, &places, launch)?.module.is_unit;
        }
        let variant = ModuleKey { is_wide, is_unit };
        Ok(Self { compilation, kernels, artifact, places, text, variant })
    }

    /// Another text in place of the artifact's, with kernels of the same parameters.
    #[must_use]
    pub fn with_text(self, text: String) -> Self {
        Self { text, ..self }
    }
}

fn planned(
    kernels: &Kernels,
    artifact: &CudaArtifact,
    places: &SideTable<Array, ArrayArgument>,
    launch: &Launch,
) -> Result<CallPlan> {
    CallPlan::of(kernels, artifact, places, launch).map_err(|it| anyhow::anyhow!("{it:?}"))
}

/// Texts as a program, which goes on running until it is dropped.
#[derive(Debug)]
pub struct Program<'a> {
    texts: Vec<Text<'a>>,
    /// The number of the first kernel of each text.
    first: Vec<usize>,
    running: Running,
}

/// A process, and the pipes to it.
#[derive(Debug)]
struct Running {
    process: Child,
    /// None once nothing more is asked.
    questions: Option<ChildStdin>,
    answers: ChildStdout,
}

impl<'a> Program<'a> {
    /// Compiles texts in a folder, and starts them.
    ///
    /// # Errors
    ///
    /// The messages of g++.
    pub fn new(texts: Vec<Text<'a>>, folder: &Path) -> Result<Self> {
        let mut source = String::from("#include \"emulation.h\"\n");
        let mut table = String::from("const emulated_kernel emulated_kernels[] = {\n");
        let mut first = vec![];
        let mut n = 0;
        for (at, text) in texts.iter().enumerate() {
            first.push(n);
            // The text itself stays as it is: its functions are in a namespace, and the preprocessor gives kernels names
            // that nobody else has.
            let names = || text.artifact.kernels.iter().map(|it| &it.name);
            names().try_for_each(|it| writeln!(source, "#define {it} emulated_{at}_{it}"))?;
            if text.variant.is_wide {
                source += "#define ISOBAR_WIDE\n";
            }
            if text.variant.is_unit {
                source += "#define ISOBAR_UNIT\n";
            }
            writeln!(source, "namespace text_{at} {{\n#line 1 \"stencil_{at}.cu\"\n{}}}", text.text)?;
            for name in names() {
                let call = format!("emulated_{at}_{name}_by");
                writeln!(
                    source,
                    "static void {call}(void **all) {{ emulated_call(text_{at}::{name}, all); }}"
                )?;
                writeln!(table, "  {call},")?;
            }
            names().try_for_each(|it| writeln!(source, "#undef {it}"))?;
            source += "#undef ISOBAR_WIDE\n#undef ISOBAR_UNIT\n#undef ISOBAR_ALONG_I\n";
            n += text.artifact.kernels.len();
        }
        writeln!(source, "{table}  NULL}};\nconst size_t emulated_n_kernels = {n};")?;
        Ok(Self { texts, first, running: Running::start(&source, folder)? })
    }

    /// The texts, in order.
    #[must_use]
    pub fn texts(&self) -> &[Text<'a>] {
        &self.texts
    }

    /// Runs a text on a launch, whose arrays are updated. Threads and blocks run in an order that the seed tells.
    /// Answers the statement and the cell at which the run has to end, where it has to.
    ///
    /// # Errors
    ///
    /// A fault of the kernels: threads that do not wait for each other, a write beside an array, a crash.
    pub fn run(&mut self, text: usize, launch: &mut Launch, seed: u64) -> Result<Option<(StmtId, [i64; 3])>> {
        if launch.domain.points() == 0 {
            return Ok(None);
        }
        let Text { kernels, artifact, places, variant, .. } = &self.texts[text];
        let plan = planned(kernels, artifact, places, launch)?;
        ensure!(plan.module.is_unit || !variant.is_unit, "the text is for fields that lie otherwise");
        let mut buffer_of: SideTable<Array, usize> = SideTable::default();
        let mut buffers: Vec<Vec<u8>> = Vec::new();
        for (array, place) in places.iter() {
            let ArrayArgument { position, axes: Some(_) } = place else { continue };
            if let Argument::Field(field) = &launch.arguments[*position] {
                buffer_of.insert(array, buffers.len());
                buffers.push(field.array.elements.to_le_bytes());
            }
        }
        let n_fields = buffers.len();
        for &(array, bytes) in &plan.allocated {
            buffer_of.insert(array, buffers.len());
            // Bytes of 0xff make an element that nobody has written a NaN.
            buffers.push(vec![0xff; usize::try_from(bytes)?]);
        }
        let slots = buffers.len();
        buffers.push(NONE.to_le_bytes().repeat(plan.n_slots));
        let mut words: Vec<u8> = Vec::new();
        let mut tell = |it: u64| words.extend(it.to_ne_bytes());
        tell(plan.launches.len() as u64);
        for (number, it) in plan.launches.iter().enumerate() {
            tell((self.first[text] + it.kernel) as u64);
            it.blocks.iter().chain(&it.threads).for_each(|it| tell(u64::from(*it)));
            tell(u64::from(it.shared_bytes));
            tell(u64::from(artifact.kernels[it.kernel].has_barriers));
            tell(seed.wrapping_mul(0x9e37_79b9).wrapping_add(number as u64));
            tell(it.arguments.len() as u64);
            for argument in &it.arguments {
                match *argument {
                    LaunchArgument::Pointer { array, element } => {
                        let buffer =
                            *buffer_of.get(array).context("a kernel asks for an array that there is not")?;
                        let size = kernels.program.arrays[array].dtype.size_bytes() as i64;
                        tell(1);
                        tell(buffer as u64);
                        tell((element * size).cast_unsigned());
                    }
                    LaunchArgument::Value(array) => {
                        let place =
                            places.get(array).context("a kernel asks for a value that there is not")?;
                        let Argument::Scalar(value) = launch.arguments[place.position] else {
                            bail!("a kernel asks for a value that was not passed")
                        };
                        tell(0);
                        tell(bits(value));
                    }
                    LaunchArgument::Index(it) => {
                        tell(0);
                        tell(it.cast_unsigned());
                    }
                    LaunchArgument::Slots => {
                        tell(1);
                        tell(slots as u64);
                        tell(0);
                    }
                }
            }
        }
        let answered = self.running.ask(&buffers, &words).context("the program of the kernels")?;
        let answered = answered.map_err(anyhow::Error::msg)?;
        let fields = answered.iter().take(n_fields);
        let positions = places.values().filter(|it| it.axes.is_some()).map(|it| it.position);
        let is_field = |it: &usize| matches!(launch.arguments[*it], Argument::Field(_));
        let positions: Vec<usize> = positions.filter(is_field).collect();
        for (position, bytes) in positions.into_iter().zip(fields) {
            if let Argument::Field(field) = &mut launch.arguments[position] {
                field.array.elements = Elements::from_le_bytes(field.array.dtype(), bytes);
            }
        }
        let slots: Vec<u32> = answered[slots]
            .chunks_exact(4)
            .map(|it| u32::from_le_bytes(it.try_into().unwrap_or_default()))
            .collect();
        Ok(ended(self.texts[text].kernels, &slots, launch.domain))
    }

    /// Runs a text and `debug` on copies of a launch, with some seeds. Answers whether another place ends the run.
    ///
    /// # Errors
    ///
    /// Where they leave other bits, one ends and the other does not, or the kernels have a fault.
    pub fn gives_the_bits_of_debug(&mut self, text: usize, launch: &Launch, seeds: &[u64]) -> Result<bool> {
        let compilation = &self.texts[text].compilation;
        let (oir, extents) = compilation.front.reference().context("there is no OIR")?;
        let mut meant = launch.clone();
        let expected = debug::run(oir, extents, &mut meant, &mut NoControl);
        let mut is_other = false;
        for &seed in seeds {
            let mut found = launch.clone();
            let told = || format!("with seed {seed} on {}", launch.domain);
            match (&expected, self.run(text, &mut found, seed).with_context(told)?) {
                (Ok(()), None) => {
                    same_fields(self.texts[text].compilation, &meant, &found).with_context(told)?;
                }
                (Err(Stop::Trap(meant)), Some((statement, cell))) => {
                    is_other |= meant.origin.stmt != statement || meant.cell != cell;
                }
                (_, ended) => {
                    bail!("`debug` ends with {expected:?}, and the kernels with {ended:?} {}", told())
                }
            }
        }
        Ok(is_other)
    }
}

impl Running {
    /// Compiles a program in a folder, and starts it.
    fn start(source: &str, folder: &Path) -> Result<Self> {
        let parts = root().join("tests/emulation");
        let (file, program) = (folder.join("texts.cpp"), folder.join("emulated"));
        fs::write(&file, source)?;
        let mut command = Command::new("g++");
        command.args(FLAGS).arg("-I").arg(&parts).arg(&file).arg(parts.join("emulation.cpp"));
        let said = command.arg("-o").arg(&program).output().context("g++ cannot be started")?;
        ensure!(said.status.success(), "g++: {}", String::from_utf8_lossy(&said.stderr));
        let mut process = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = process.stdin.take();
        let answers = process.stdout.take().context("it has a pipe")?;
        Ok(Self { process, questions, answers })
    }

    /// The buffers as a run leaves them, or its fault.
    fn ask(&mut self, buffers: &[Vec<u8>], launches: &[u8]) -> Result<Result<Vec<Vec<u8>>, String>> {
        let to = self.questions.as_mut().context("it has a pipe")?;
        to.write_all(&(buffers.len() as u64).to_ne_bytes())?;
        for buffer in buffers {
            to.write_all(&(buffer.len() as u64).to_ne_bytes())?;
            to.write_all(buffer)?;
        }
        to.write_all(launches)?;
        to.flush()?;
        let answers = &mut self.answers;
        let mut number = || -> Result<u64> {
            let mut word = [0; 8];
            answers.read_exact(&mut word)?;
            Ok(u64::from_ne_bytes(word))
        };
        if number()? != 0 {
            let mut fault = vec![0; usize::try_from(number()?)?];
            answers.read_exact(&mut fault)?;
            return Ok(Err(String::from_utf8_lossy(&fault).into_owned()));
        }
        let mut left = Vec::new();
        for buffer in buffers {
            let mut bytes = vec![0; buffer.len()];
            answers.read_exact(&mut bytes)?;
            left.push(bytes);
        }
        Ok(Ok(left))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without questions it ends.
        self.questions = None;
        let _ = self.process.wait();
    }
}

/// CUDA that is written by hand, as a program.
#[derive(Debug)]
pub struct ByHand {
    kernels: Vec<String>,
    running: Running,
}

impl ByHand {
    /// Compiles the texts in a folder, and starts them.
    ///
    /// # Errors
    ///
    /// The messages of g++.
    pub fn new(hands: &[Hand], folder: &Path) -> Result<Self> {
        let texts: Vec<_> = hands.iter().map(|it| (it.name, it.text(), it.kernels().to_vec())).collect();
        Self::of(&texts, folder)
    }

    /// The same of texts with their names, and the names of their kernels.
    ///
    /// # Errors
    ///
    /// The messages of g++.
    pub fn of(texts: &[(&str, String, Vec<String>)], folder: &Path) -> Result<Self> {
        let mut source = String::from("#include \"emulation.h\"\n");
        let mut table = String::from("const emulated_kernel emulated_kernels[] = {\n");
        let mut all = Vec::new();
        for (name, text, kernels) in texts {
            writeln!(source, "namespace by_hand_{name} {{\n#line 1 \"{name}.cu\"\n{text}}}")?;
            for kernel in kernels {
                writeln!(
                    source,
                    "static void call_{kernel}(void **all) {{ emulated_call(by_hand_{name}::{kernel}, all); }}"
                )?;
                writeln!(table, "  call_{kernel},")?;
                all.push(kernel.clone());
            }
            source += "#undef ISOBAR_ALONG_I\n";
        }
        writeln!(source, "{table}  NULL}};\nconst size_t emulated_n_kernels = {};", all.len())?;
        Ok(Self { kernels: all, running: Running::start(&source, folder)? })
    }

    /// Launches a kernel; answers what it left in the buffer that it writes.
    ///
    /// # Errors
    ///
    /// A fault of the kernel.
    pub fn run(&mut self, planned: &Planned, seed: u64) -> Result<Vec<u8>> {
        let Planned { kernel, blocks, threads, shared_bytes, arguments, buffers, .. } = planned;
        let mut left = self.launch(kernel, [*blocks, *threads], *shared_bytes, arguments, buffers, seed)?;
        Ok(left.swap_remove(planned.written()))
    }

    /// Launches a kernel with so many blocks and threads; answers its buffers as it leaves them.
    ///
    /// # Errors
    ///
    /// A fault of the kernel.
    pub fn launch(
        &mut self,
        kernel: &str,
        shape: [[u32; 3]; 2],
        shared_bytes: u32,
        arguments: &[Given],
        buffers: &[Vec<u8>],
        seed: u64,
    ) -> Result<Vec<Vec<u8>>> {
        let kernel = self.kernels.iter().position(|it| it == kernel);
        let mut words: Vec<u8> = Vec::new();
        let mut tell = |it: u64| words.extend(it.to_ne_bytes());
        tell(1);
        tell(kernel.context("there is no such kernel")? as u64);
        shape.iter().flatten().for_each(|it| tell(u64::from(*it)));
        tell(u64::from(shared_bytes));
        // It has no barriers.
        tell(0);
        tell(seed);
        tell(arguments.len() as u64);
        for argument in arguments {
            match *argument {
                Given::Bits(bits) => {
                    tell(0);
                    tell(bits);
                }
                Given::Buffer { at, byte } => {
                    tell(1);
                    tell(at as u64);
                    tell(byte);
                }
            }
        }
        let answered = self.running.ask(buffers, &words).context("the program of the kernels")?;
        answered.map_err(anyhow::Error::msg)
    }
}

/// Returns the stencil of a seed with its calls, on a small domain and on one with rows. The compilation is
/// for a GPU, or for a CPU with kernels beside it.
fn of_seed(seed: u64) -> Result<Called> {
    let mut subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
    // Not the numbers that the text is made of.
    let mut random = Random::new(!seed);
    let layout = Layout::of_seed(seed, &mut random);
    // Beside one for a CPU, kernels have the form that is expected to be fastest.
    if random.chance(70) {
        let models = [GpuModel::H100, GpuModel::WEBGPU, GpuModel::LAVAPIPE];
        shape_of_seed(seed, &models, &mut subject.config.passes);
    }
    let domains = [*random.pick(&DOMAINS), *random.pick(&WIDE)];
    Called::of(seed, &subject, &domains, &[layout])
}

/// A stencil, and how it is called.
#[derive(Debug)]
pub struct Called {
    /// Its seed, or its place among others.
    pub number: u64,
    /// The text of reports about it: its name, the options of the passes, its text.
    pub about: String,
    pub compilation: Compilation,
    pub launches: Vec<Launch>,
}

impl Called {
    /// Compiles a stencil, and calls it on each of the domains with arrays of each layout.
    ///
    /// # Errors
    ///
    /// Where it does not compile.
    pub fn of(number: u64, subject: &Subject, domains: &[Domain], layouts: &[Layout]) -> Result<Self> {
        let compilation = subject.compile();
        ensure!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
        let signature = compilation.front.signature.as_ref().context("there is no signature")?;
        let mut launches = Vec::new();
        for &domain in domains {
            let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
            let on_domain = Subject { domain, ..subject.clone() };
            // A domain that is too small for the stencil is refused, and so is tested elsewhere.
            let Ok(launch) = compilation.front.bind(call(&on_domain, &compilation, signature)?) else {
                continue;
            };
            launches.extend(layouts.iter().map(|it| it.of(&launch, &signature.params)));
        }
        let text = subject.project.main_id().map_or("", |it| subject.project.text(it));
        let about = format!("{} {:?}\n{text}", subject.name, subject.config.passes);
        Ok(Self { number, about, compilation, launches })
    }

    fn text(&self) -> Result<Text<'_>> {
        Text::of(&self.compilation, &self.launches, self.number.is_multiple_of(4))
    }

    fn hold(&self, program: &mut Program<'_>, text: usize) -> Result<Held> {
        let mut held = Held::default();
        for launch in &self.launches {
            held.runs += 1;
            let is_other = program.gives_the_bits_of_debug(text, launch, &[self.number, self.number + 1])?;
            held.other_traps += u64::from(is_other);
        }
        Ok(held)
    }

    fn in_context(&self) -> String {
        let kernels = self.compilation.kernels();
        let kernels = kernels.map_or(String::new(), |it| isobar_compiler::kernel::print::listing(it).text);
        format!("{}\n{kernels}", self.about)
    }
}

/// Holds the kernels of generated stencils against `debug`, all of them as one program in a folder.
#[must_use]
pub fn hold_emulated(seeds: &[u64], folder: &Path) -> Vec<(u64, Result<Held>)> {
    let mut answers = Vec::new();
    let mut all = Vec::new();
    for &seed in seeds {
        match of_seed(seed) {
            Ok(it) => all.push(it),
            Err(why) => answers.push((seed, Err(why))),
        }
    }
    answers.extend(hold_all(&all, folder));
    answers
}

/// Holds the kernels of stencils against `debug`, all of them as one program in a folder. Answers by their numbers.
#[must_use]
pub fn hold_all(all: &[Called], folder: &Path) -> Vec<(u64, Result<Held>)> {
    let mut answers = Vec::new();
    let texts: Result<Vec<Text<'_>>> = all.iter().map(Called::text).collect();
    match texts.and_then(|texts| Program::new(texts, folder)) {
        Ok(mut program) => {
            for (at, it) in all.iter().enumerate() {
                let held = it.hold(&mut program, at).with_context(|| it.in_context());
                let is_over = held.is_err();
                answers.push((it.number, held));
                if is_over {
                    // It may have ended: the others begin anew.
                    let rest = &all[at + 1..];
                    if !rest.is_empty() {
                        answers.extend(hold_all(rest, folder));
                    }
                    break;
                }
            }
        }
        Err(why) if all.len() == 1 => {
            answers.push((all[0].number, Err(why).with_context(|| all[0].in_context())))
        }
        // One of them is to blame.
        Err(_) => all.iter().for_each(|it| answers.extend(hold_all(std::slice::from_ref(it), folder))),
    }
    answers
}
