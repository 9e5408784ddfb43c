//! `isobar bench` — back ends against each other and against copying, in turn, round after round.

use isobar_protocol::bench::{BackendMeasurement, Benchmark, Samples};
use isobar_protocol::job::EndReason;
use isobar_protocol::layout::UnitStrideAxis;
use isobar_protocol::report::{BenchReport, MeasuredStep};
use isobar_protocol::request::Mode;

use super::{Outcome, Usage, human, job, print, print_json, run, say};
use crate::cli::{BenchArgs, Format};
use crate::compile;
use crate::config::Environment;
use crate::document::Document;

pub(crate) fn bench(args: &BenchArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let mut document = Document::read(args.program.as_deref().or(args.file.as_deref()), &args.shared)?;
    let request = &mut document.request;
    let (is_asked, is_class) = (request.bench.is_some(), compile::program_of(request).is_some());
    if !args.backends.is_empty() || request.bench.is_none() {
        request.bench.get_or_insert_default().backends.clone_from(&args.backends);
    }
    request.tune = None;
    run::ask_halo(request, args.halo.as_deref())?;
    run::for_gpu(args.target.as_deref(), request, environment)?;
    if let Some(bench) = &mut request.bench
        && args.repeats.is_some()
    {
        bench.rounds = args.repeats;
    }
    if let Some(bench) = &mut request.bench {
        match &args.layouts {
            Some(named) => bench.layouts = axes(named),
            // Those of the arguments of a class are not measured.
            None if !is_asked && !is_class => bench.layouts = vec![UnitStrideAxis::I, UnitStrideAxis::K],
            None => {}
        }
    }
    run::make_inputs(&mut document, &args.init, args.threads)?;

    let (reason, seen) = job::done(&mut document, &args.shared, environment)?;
    let report = BenchReport {
        diagnostics: seen.diagnostics,
        reason,
        memory: seen.memory,
        benchmark: seen.benchmark,
        timings: seen.timings,
    };
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            let found = human::diagnostics(&report.diagnostics, &document.request);
            if !found.is_empty() {
                say(found.trim_end());
            }
            if let Some(benchmark) = &report.benchmark {
                print(&told(benchmark, &report.timings));
            }
        }
    }
    Ok(if report.reason == EndReason::Ok { Outcome::Fine } else { Outcome::Failed })
}

/// The axes of `--layouts`.
fn axes(named: &[String]) -> Vec<UnitStrideAxis> {
    let axis = |it: &String| match it.as_str() {
        "i" => Some(UnitStrideAxis::I),
        "j" => Some(UnitStrideAxis::J),
        "k" => Some(UnitStrideAxis::K),
        _ => None,
    };
    named.iter().filter_map(axis).collect()
}

fn told(it: &Benchmark, timings: &[MeasuredStep]) -> String {
    let [i, j, k] = it.domain;
    let threads = if it.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", it.threads) };
    let mut text = format!(
        "{} on {i}x{j}x{k} points, {threads}, {}, {} rounds; a call moves {:.2} MB at least\n\n",
        it.stencil,
        it.mode.name(),
        it.rounds,
        it.bytes as f64 / 1e6,
    );
    let head = ["", "median ms", "95 % from", "to", "GB/s", "of copy", "first ms"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(it.backends.iter().map(row));
    let copy = isobar_protocol::bench::gigabytes_per_second(it.bytes, it.copy.median_ms);
    let [median, low, high] = times(&it.copy);
    let rate = copy.map(|it| format!("{it:.2}")).unwrap_or_default();
    rows.push(["copy".to_owned(), median, low, high, rate, String::new(), String::new()]);
    text += &human::table(&rows);
    let on_device = it.backends.iter().filter_map(|it| Some((&it.backend, it.on_device.as_ref()?)));
    let mut rows = vec![
        ["by the GPU's clock", "median ms", "95 % from", "to", "GB/s", "of its copy"].map(str::to_owned),
    ];
    rows.extend(on_device.clone().map(|(backend, it)| {
        let [median, low, high] = times(&it.calls);
        let rate = it.gb_per_s.map(|it| format!("{it:.2}")).unwrap_or_default();
        [backend.clone(), median, low, high, rate, it.of_copy.map(human::percent).unwrap_or_default()]
    }));
    if rows.len() > 1 {
        text += "\n";
        text += &human::table(&rows);
        text += "\ncalls of a GPU are held against its own copies:\n";
        for (backend, it) in on_device {
            text += &format!("{backend}: {}\n", human::copies(it.copy));
        }
    }

    let mut rows = vec![
        ["on arrays of callers", "median ms", "95 % from", "to", "of own", "of copy", "how"]
            .map(str::to_owned),
    ];
    for backend in &it.backends {
        rows.extend(backend.layouts.iter().map(|on| {
            let [median, low, high] = times(&on.calls);
            let name = format!("{} {}", backend.backend, on.along.name());
            let part = on.of_copy.map(human::percent).unwrap_or_default();
            [name, median, low, high, human::percent(on.of_own), part, on.layout.told()]
        }));
    }
    if rows.len() > 1 {
        text += "\n";
        text += &human::table(&rows);
    }

    let mut rows = vec![["to get ready", "ms"].map(str::to_owned)];
    let is_level = |it: &&MeasuredStep| !["inputs", "total"].contains(&it.step.as_str());
    rows.extend(timings.iter().filter(is_level).map(|it| [it.step.clone(), format!("{:.3}", it.ms)]));
    for backend in &it.backends {
        let step = |it: &MeasuredStep| [format!("{} {}", backend.backend, it.step), format!("{:.3}", it.ms)];
        rows.extend(backend.ready.iter().map(step));
    }
    text += "\n";
    text += &human::table(&rows);
    for backend in it.backends.iter().filter(|it| !it.steps.is_empty()) {
        text += &format!("\nwhere {} spends its time:\n\n", backend.backend);
        text += &human::graph_steps(&backend.steps);
    }
    for tuned in it.backends.iter().filter_map(|it| it.tuned.as_ref()) {
        text += &format!("\n{}\n", human::tuned(tuned));
    }
    if it.backends.len() > 1 {
        let word = match (it.agree, it.mode) {
            (true, _) => "all back ends wrote the same bits",
            (false, Mode::Fast) => "the back ends did not write the same bits, as `fast` allows",
            (false, Mode::Reproducible) => "the back ends did NOT write the same bits",
        };
        text += &format!("\n{word}\n");
    }
    text
}

fn row(it: &BackendMeasurement) -> [String; 7] {
    let [median, low, high] = times(&it.calls);
    let rate = it.gb_per_s.map(|it| format!("{it:.2}")).unwrap_or_default();
    let part = it.of_copy.map(human::percent).unwrap_or_default();
    [it.backend.clone(), median, low, high, rate, part, format!("{:.3}", it.first_ms)]
}

fn times(it: &Samples) -> [String; 3] {
    [it.median_ms, it.low_ms, it.high_ms].map(|it| format!("{it:.3}"))
}
