//! `cargo xtask corpus PATH...`: what becomes of the stencils below folders.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use isobar_compiler::space::Domain;
use isobar_runner::backends::Backend;
use isobar_tests::corpus::{Agreed, Checkout, OnBackend, Outcome, Trial};
use isobar_tests::native::named;

/// Errors that gt4py finds after it has parsed a stencil, so that a test which only parses one never sees
/// them.
const AFTER_PARSING: [&str; 3] = ["E18", "E28", "E37"];
/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;

fn main() -> ExitCode {
    let (mut roots, mut libraries, mut how) = (Vec::new(), Vec::new(), How::default());
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--with") => libraries.extend(arguments.next().map(PathBuf::from)),
            Some("--passes") => how.passes = true,
            Some("--backend") => match named(&arguments.next().unwrap_or_default().to_string_lossy()) {
                Ok(backend) => how.backends.push(backend),
                Err(error) => {
                    println!("error: {error}");
                    return ExitCode::from(2);
                }
            },
            _ => roots.push(PathBuf::from(argument)),
        }
    }
    if roots.is_empty() {
        println!("usage: cargo xtask corpus PATH... [--with PATH]... [--passes] [--backend rayon|openmp]...");
        return ExitCode::from(2);
    }
    let thread =
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || report(&roots, &libraries, &how));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(has_crashed))) => ExitCode::from(u8::from(has_crashed)),
        Ok(Ok(Err(error))) => {
            println!("error: {error:#}");
            ExitCode::from(2)
        }
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// The checks beside compiling each stencil and running it with `debug`.
#[derive(Debug, Default)]
struct How {
    /// Every level and every pass is held against the meaning.
    passes: bool,
    /// These back ends are.
    backends: Vec<Backend>,
}

/// Prints a line for each stencil that is not run to its end, and tables. Returns whether the compiler
/// crashed, or a level or a back end changed the meaning of a stencil.
fn report(roots: &[PathBuf], libraries: &[PathBuf], how: &How) -> anyhow::Result<bool> {
    let mut rows = Vec::new();
    let mut has_crashed = false;
    for root in roots {
        let trial = Trial::new(Checkout::read(root, libraries)?).on(&how.backends)?;
        let mut trial = if how.passes { trial.comparing() } else { trial };
        let mut row = Row { root: root.display().to_string(), ..Row::default() };
        for (file, stencil) in trial.stencils() {
            let outcome = trial.attempt(&file, &stencil, Domain::new(5, 4, 6));
            let place = format!("{}/{file}:{stencil}", root.display());
            let is_negative = trial.expects_refusal(&file, &stencil);
            let is_later = |code| AFTER_PARSING.contains(code);
            let fate = match &outcome {
                Outcome::Refused { .. } if is_negative => Fate::Rightly,
                Outcome::Refused { code, .. } if is_later(code) && trial.is_only_parsed(&file, &stencil) => {
                    Fate::Later
                }
                _ => Fate::AsSaid,
            };
            match &outcome {
                Outcome::Accepted { warnings, .. } if is_negative => {
                    let warned: String = warnings.iter().map(|it| format!(" {it}")).collect();
                    println!("accepted {place}: a test expects an error; warned of:{warned}");
                }
                Outcome::Refused { code, message } if fate == Fate::Rightly => {
                    println!("{code} rightly {place}: {message}");
                }
                Outcome::Refused { code, message } if fate == Fate::Later => {
                    println!("{code} parsed  {place}: {message}");
                }
                Outcome::Accepted { levels: Err(why), .. } => println!("DIFFERS  {place}: {why}"),
                Outcome::Accepted { run: Ok(()), .. } => {}
                Outcome::Accepted { run: Err(why), .. } => println!("not run  {place}: {why}"),
                Outcome::Refused { code, message } => println!("{code}      {place}: {message}"),
                Outcome::Crashed { what } => println!("CRASHED  {place}: {what}"),
            }
            has_crashed |=
                matches!(outcome, Outcome::Crashed { .. } | Outcome::Accepted { levels: Err(_), .. });
            if let Outcome::Accepted { native, .. } = &outcome {
                for OnBackend { backend, outcome } in native {
                    let name = backend.name();
                    match outcome {
                        Ok(it) => row.agreed.push((*backend, *it, format!("{file}:{stencil}"))),
                        Err(why) => {
                            println!("DIFFERS  {place} on `{name}`: {why}");
                            *row.differ.entry(name).or_default() += 1;
                            has_crashed = true;
                        }
                    }
                }
            }
            row.add(outcome, fate);
        }
        rows.push(row);
    }
    println!(
        "\n{:>8} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9} {:>9}",
        "stencils", "accepted", "not run", "rightly", "parsed", "refused", "crashed", "ms", "most ms"
    );
    for row in &rows {
        println!("{row}");
    }
    if !how.backends.is_empty() {
        println!(
            "\n{:>8} {:>8} {:>7} {:>11} {:>7} {:>9} {:>9}  slowest",
            "back end", "stencils", "runs", "other traps", "differ", "median ms", "most ms"
        );
    }
    for (row, &backend) in rows.iter().flat_map(|row| how.backends.iter().map(move |it| (row, it))) {
        println!("{}", row.on(backend));
    }
    Ok(has_crashed)
}

/// The meaning of an outcome in view of the file's tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    AsSaid,
    /// Refused, as a test expects.
    Rightly,
    /// Refused by what gt4py checks after parsing, which the tests do not ask for.
    Later,
}

/// The stencils of one folder.
#[derive(Debug, Default)]
struct Row {
    root: String,
    accepted: u32,
    not_run: u32,
    crashed: u32,
    /// How many are refused as a test expects.
    rightly: u32,
    /// How many a test of gt4py only parses, which gt4py itself refuses after that.
    later: u32,
    /// How many others, by the first error's code.
    refused: BTreeMap<&'static str, u32>,
    total: Duration,
    most: Duration,
    /// The stencils that give the bits of `debug` on a back end, with their names.
    agreed: Vec<(Backend, Agreed, String)>,
    /// How many do not, by back end.
    differ: BTreeMap<&'static str, u32>,
}

impl Row {
    /// How many stencils give the bits of `debug` on a back end, and how soon they are ready.
    fn on(&self, backend: Backend) -> String {
        let mut agreed: Vec<_> = self.agreed.iter().filter(|(on, ..)| *on == backend).collect();
        agreed.sort_by_key(|(_, it, _)| it.ready);
        let ms = |at: usize| agreed.get(at).map_or(0.0, |(_, it, _)| it.ready.as_secs_f64() * 1e3);
        format!(
            "{:>8} {:>8} {:>7} {:>11} {:>7} {:>9.1} {:>9.1}  {} ({})",
            backend.name(),
            agreed.len(),
            agreed.iter().map(|(_, it, _)| it.held.runs).sum::<u64>(),
            agreed.iter().map(|(_, it, _)| it.held.other_traps).sum::<u64>(),
            self.differ.get(backend.name()).unwrap_or(&0),
            ms(agreed.len() / 2),
            ms(agreed.len().saturating_sub(1)),
            self.root,
            agreed.last().map_or("", |(.., name)| name)
        )
    }

    fn add(&mut self, outcome: Outcome, fate: Fate) {
        match outcome {
            Outcome::Accepted { took, run, .. } => {
                self.accepted += 1;
                self.not_run += u32::from(run.is_err());
                self.total += took;
                self.most = self.most.max(took);
            }
            Outcome::Refused { .. } if fate == Fate::Rightly => self.rightly += 1,
            Outcome::Refused { .. } if fate == Fate::Later => self.later += 1,
            Outcome::Refused { code, .. } => *self.refused.entry(code).or_default() += 1,
            Outcome::Crashed { .. } => self.crashed += 1,
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let refused: u32 = self.refused.values().sum();
        let (total, most) = (self.total.as_secs_f64() * 1e3, self.most.as_secs_f64() * 1e3);
        write!(
            f,
            "{:>8} {:>8} {:>7} {:>7} {:>7} {refused:>7} {:>7} {total:>9.1} {most:>9.2}  {}",
            self.accepted + self.rightly + self.later + refused + self.crashed,
            self.accepted,
            self.not_run,
            self.rightly,
            self.later,
            self.crashed,
            self.root
        )?;
        let codes: Vec<String> = self.refused.iter().map(|(code, n)| format!("{code} {n}")).collect();
        if codes.is_empty() { Ok(()) } else { write!(f, " ({})", codes.join(", ")) }
    }
}
