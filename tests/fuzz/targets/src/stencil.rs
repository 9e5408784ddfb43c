//! Any text, in a file of any name, through every level, and run on a tiny domain. Its C holds nothing but what may
//! stand in C.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use isobar_compiler::c::lines::{with_comments, with_directives, written};
use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::call::run::Control;
use isobar_compiler::call::signature::{ParamKind, Signature};
use isobar_compiler::config::{Config, External};
use isobar_compiler::diag::Span;
use isobar_compiler::inputs::{self, Directives, Generator, InputDirective, ScalarDirective};
use isobar_compiler::pipeline::{NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;
use isobar_compiler::{debug, numpy};

// It uses the standard library alone.
#[expect(dead_code, unreachable_pub, reason = "tests use the part that this crate does not")]
#[path = "../../../src/vocabulary.rs"]
mod vocabulary;

/// More levels than this are no tiny domain.
const MOST_LEVELS: i64 = 12;
/// A run with larger fields, because of the halo that the text asks for, is not started.
const MOST_BYTES: u64 = 1 << 22;

/// Ends a run that takes long.
struct Patience(u32);

impl Control for Patience {
    fn progress(&mut self, _done: u64, _total: u64) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

/// A stack of this size is enough, because of the compiler's own limits. A program gives its compiler a
/// thread of this size as well.
const STACK_BYTES: usize = 256 << 20;

/// A thread that compiles the texts it is sent, and answers when one is done.
struct Compiler {
    texts: SyncSender<String>,
    done: Receiver<thread::Result<()>>,
}

impl Compiler {
    fn start() -> Self {
        let (texts, to_compile) = sync_channel::<String>(1);
        let (compiled, done) = sync_channel(1);
        let work = move || {
            for text in to_compile {
                let ended = catch_unwind(AssertUnwindSafe(|| compile_and_run(&text)));
                if compiled.send(ended).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("threads can be started");
        Self { texts, done }
    }

    fn compile(&self, text: &str) {
        self.texts.send(text.to_owned()).expect("it waits for texts");
        if let Err(panic) = self.done.recv().expect("it answers each text") {
            resume_unwind(panic);
        }
    }
}

thread_local! {
    /// One for all texts of a thread: making its stack takes longer than compiling one.
    static COMPILER: Compiler = Compiler::start();
}

pub fn stencil(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        COMPILER.with(|it| it.compile(text));
    }
}

fn compile_and_run(text: &str) {
    // The last line is what the file is called: no door would take most of such names, and none may do harm.
    let name = text.lines().next_back().unwrap_or_default();
    let project = Project::of_one(&format!("{name}.py"), text);
    let mut config = Config::default();
    let mut compilation = route::compile(&project, &config, &mut NoHook);
    if compilation.has_errors() && !compilation.front.externals.is_empty() {
        // Text alone would hardly ever get past its imports.
        for it in &compilation.front.externals {
            config.externals.insert(it.name.clone(), External::Int(1));
        }
        compilation = route::compile(&project, &config, &mut NoHook);
    }
    // Each text is made when it is asked for.
    let _ = compilation.listings().count();
    if let Some(artifact) = compilation.c() {
        let (text, statements) =
            (&artifact.listing.text, written(&artifact.listing, compilation.front.sources()));
        for text in [with_comments(text, &statements), with_directives(text, &statements)] {
            if let Err(why) = vocabulary::check(&text) {
                panic!("{why} in generated C:\n{text}");
            }
        }
    }
    let (Some(signature), Some(oir), Some(extents)) =
        (&compilation.front.signature, &compilation.front.oir, &compilation.front.extents)
    else {
        return;
    };
    let domain = Domain::new(3, 2, signature.min_levels.max(3));
    if compilation.has_errors() || domain.k > MOST_LEVELS || inputs::bytes_for(signature, domain) > MOST_BYTES
    {
        return;
    }
    let call = inputs::call_for(signature, &small_inputs(signature), domain);
    if let Ok(mut launch) = compilation.front.bind(call) {
        // They may stop, by a trap or for being slow; they must not panic.
        if let Some(npir) = compilation.front.npir() {
            let _ = numpy::run(npir, &mut launch.clone(), &mut Patience(64));
        }
        let _ = debug::run(oir, extents, &mut launch, &mut Patience(64));
    }
}

fn small_inputs(signature: &Signature) -> Directives {
    let mut directives = Directives::default();
    let span = Span::default();
    for (param, seed) in signature.params.iter().zip(1..) {
        match &param.kind {
            ParamKind::Field { .. } => {
                let generator = Generator::Random { low: -1.0, high: 3.0, seed };
                directives.inputs.push(InputDirective { field: param.name.clone(), generator, span });
            }
            ParamKind::Scalar { dtype, .. } => {
                let value = match dtype {
                    DType::Bool => ScalarInput::Bool(true),
                    it if it.is_int() => ScalarInput::Int(1),
                    _ => ScalarInput::Float(0.5),
                };
                directives.scalars.push(ScalarDirective { name: param.name.clone(), value, span });
            }
        }
    }
    directives
}
