//! WGSL of a stencil's kernels, and its words of SPIR-V: `cargo bench -p isobar-tests --bench wgsl`.
//!
//! Each line is a stencil of the gallery or of `tests/kernels`, for devices with doubles or for those
//! without. It shows the time of each of the two steps and of both together. A time is the median of some
//! repetitions, with the quartiles.
#![expect(clippy::print_stdout, reason = "a benchmark talks to its user on stdout")]

use std::time::{Duration, Instant};

use isobar_compiler::space::Domain;
use isobar_compiler::wgsl::{Doubles, WgslOptions, generate};
use isobar_runtime::executors::wgpu::accepts;
use isobar_tests::agree::subject::Subject;
use isobar_tests::root;

const REPETITIONS: usize = 31;
/// The time that both steps together should not exceed.
const MOST: Duration = Duration::from_millis(5);

fn main() {
    let filter = std::env::args().skip(1).find(|it| !it.starts_with('-'));
    let domain = Domain::new(5, 4, 6);
    let mut slow = Vec::new();
    let mut n = 0;
    println!("text, then naga and decoration: median [quartiles] in ms");
    for (origin, folder) in [("gallery", "static/gallery"), ("kernels", "tests/kernels")] {
        let subjects = match Subject::of_folder(origin, &root().join(folder), domain) {
            Ok(subjects) => subjects,
            Err(why) => return println!("{folder}: {why:#}"),
        };
        let is_wanted = |it: &&Subject| filter.as_ref().is_none_or(|wanted| it.name.contains(wanted));
        for subject in subjects.iter().filter(is_wanted) {
            for doubles in [Doubles::Native, Doubles::Pairs] {
                n += 1;
                match measured(subject, doubles) {
                    Ok(all) if all <= MOST => {}
                    Ok(_) => slow.push(format!("{} ({doubles:?})", subject.name)),
                    Err(why) => println!("{}: {why}", subject.name),
                }
            }
        }
    }
    let most = MOST.as_millis();
    println!("{n} texts, {} take longer than {most} ms: {}", slow.len(), slow.join(", "));
}

fn measured(subject: &Subject, doubles: Doubles) -> Result<Duration, String> {
    let compilation = subject.compile();
    let kernels = compilation.kernels().ok_or("it does not compile")?;
    let options = WgslOptions { doubles, levels: Some(80), ..WgslOptions::default() };
    let (mut texts, mut words, mut both) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for _ in 0..REPETITIONS {
        let begun = Instant::now();
        let artifact = generate(kernels, &options);
        let text = begun.elapsed();
        accepts(&artifact.listing.text)?;
        let all = begun.elapsed();
        bytes = artifact.listing.text.len();
        texts.push(text);
        words.push(all - text);
        both.push(all);
    }
    let [texts, words, both] = [texts, words, both].map(quartiles);
    println!(
        "{:<44} {:<7} {:>6} bytes  {} + {} = {}",
        subject.name,
        format!("{doubles:?}"),
        bytes,
        told(texts),
        told(words),
        told(both)
    );
    Ok(both[1])
}

fn quartiles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    [times.len() / 4, times.len() / 2, times.len() * 3 / 4].map(|at| times[at])
}

fn told([low, median, high]: [Duration; 3]) -> String {
    let ms = |it: Duration| it.as_secs_f64() * 1e3;
    format!("{:.2} [{:.2} {:.2}]", ms(median), ms(low), ms(high))
}
