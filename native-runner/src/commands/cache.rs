//! `isobar cache` — what compiled code is kept, its end, and why a run does not find its own.

use std::path::Path;

use isobar_compiler::pipeline::NoHook;
use isobar_compiler::space::Domain;
use isobar_protocol::compile::Compiled;
use isobar_protocol::report::{CacheEntry, CacheReport, Explanation};
use isobar_protocol::request::Request;
use isobar_runtime::cache::{self, Kind};
use isobar_runtime::executors::openmp;

use super::{Outcome, Usage, human, print, print_json, say};
use crate::backends::Backend;
use crate::cli::{CacheArgs, CacheCommand, ExplainMissArgs, Format};
use crate::compile::{self, Source};
use crate::config::{Environment, Tools};
use crate::document::{Document, Usage as Wrong, shown};
use crate::limits;
use crate::translate;
use crate::tuned::{self, For};
use crate::wire::Order;

pub(crate) fn cache(args: &CacheArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let root = environment
        .cache
        .as_deref()
        .ok_or_else(|| Usage::Wrong("there is no cache folder: set XDG_CACHE_HOME or HOME".to_owned()))?;
    let mut report = CacheReport { folder: Some(shown(root)), ..CacheReport::default() };
    let mut request = Request::default();
    let format = match &args.command {
        Some(CacheCommand::Clear { format }) => {
            let unwritable = |error| Wrong::Unwritable { path: shown(root), error };
            report.removed = Some(cache::clear(root).map_err(unwritable)?);
            *format
        }
        Some(CacheCommand::Explain(args)) => {
            request = explain(args, environment, &mut report)?;
            args.shared.format
        }
        Some(CacheCommand::List { format }) => {
            report.entries = kept(root);
            report.tuned = tuned::list(root);
            *format
        }
        None => {
            report.entries = kept(root);
            report.tuned = tuned::list(root);
            args.format
        }
    };
    match format {
        Format::Json => print_json(&report),
        Format::Human => {
            let found = human::diagnostics(&report.diagnostics, &request);
            if !found.is_empty() {
                say(found.trim_end());
            }
            print(&told(&report));
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

/// The entries, the one that was used last first.
fn kept(root: &Path) -> Vec<CacheEntry> {
    cache::list(root).into_iter().map(translate::cache_entry).collect()
}

/// Looks for the code that a run of this request would take.
fn explain(
    args: &ExplainMissArgs,
    environment: &Environment,
    report: &mut CacheReport,
) -> Result<Request, Usage> {
    let document = Document::read(args.file.as_deref(), &args.shared)?;
    let tools = Tools::find(environment);
    let root = tools.cache.as_deref().unwrap_or(Path::new(""));
    let cc = tools.cc.as_ref().map_err(|reason| Usage::Wrong(reason.clone()))?;
    // As a run has it, with the schedule that is kept for it.
    let order = Order::new(document.request, false, &limits::of_this_machine(), &tools);
    let (request, threads) = (order.request, order.threads);
    let made = compile::on_large_stack(|| {
        let source = Source::of(&request);
        let kept = request.domain.or(source.directives.domain).and_then(|[i, j, k]| {
            let (backend, domain) = (Backend::OPENMP, Domain::new(i, j, k));
            let of = For { request: &request, source: &source, backend, threads, cc: &order.cc, domain };
            tuned::find(root, &of.key()).filter(|_| tuned::is_wanted(&request, backend))
        });
        let source = kept.map_or_else(|| source.clone(), |it| source.with_schedule(&it.document));
        let compilation = source.compile(&mut NoHook);
        let found = compile::artifact(&compilation).filter(|_| !compilation.has_errors()).map(|artifact| {
            let stencil = compilation.stencil.as_deref().unwrap_or_default();
            let options = &request.options;
            let source =
                openmp::Source::of(artifact, &compilation, translate::mode(options.mode), options.lines);
            let explained = [true, false]
                .map(|is_unit| cache::explain(root, Kind::C, stencil, &source.parts(is_unit, cc)));
            // Which of them a run takes depends on its fields; those that are made here have neighbours side by side.
            let [of_unit, of_others] = explained;
            translate::explanation(if of_others.is_hit && !of_unit.is_hit { of_others } else { of_unit })
        });
        (Compiled::new(&compilation, [], Vec::new()).diagnostics, found)
    });
    match made {
        Ok((diagnostics, found)) => {
            (report.diagnostics, report.explanation) = (diagnostics, found);
            if report.explanation.is_none() && Outcome::of(&report.diagnostics) == Outcome::Fine {
                report.diagnostics.push(compile::no_stencil(&request));
            }
        }
        Err(panic) => report.diagnostics.push(compile::crash(&panic)),
    }
    Ok(request)
}

fn told(report: &CacheReport) -> String {
    let folder = report.folder.as_deref().unwrap_or_default();
    if let Some(removed) = report.removed {
        let entries = crate::error::count(removed, "entry").replace("entrys", "entries");
        return format!("{entries} removed from {folder}\n");
    }
    if let Some(it) = &report.explanation {
        return explained(it);
    }
    if !report.diagnostics.is_empty() {
        return String::new();
    }
    let mut rows = vec![["key", "stencil", "back end", "bytes", ""].map(str::to_owned)];
    rows.extend(report.entries.iter().map(|it| {
        let state = if it.is_whole { "" } else { "damaged, made anew when needed" };
        let (key, bytes) = (head(&it.key).to_owned(), it.bytes.to_string());
        [key, it.stencil.clone(), it.backend.clone(), bytes, state.to_owned()]
    }));
    let mut text = format!("{folder}\n{}", human::table(&rows));
    if !report.tuned.is_empty() {
        let names = ["schedule", "stencil", "back end", "threads", "domain", "ms", "for"];
        let mut rows = vec![names.map(str::to_owned)];
        rows.extend(report.tuned.iter().map(|it| {
            let tuned = &it.tuned;
            let [i, j, k] = tuned.domain;
            [
                head(&tuned.key).to_owned(),
                it.stencil.clone(),
                tuned.backend.clone(),
                it.threads.to_string(),
                format!("{i}x{j}x{k}"),
                format!("{:.3}", tuned.ms),
                format!("{:.3}", tuned.default_ms),
            ]
        }));
        text += &format!("\n{}", human::table(&rows));
    }
    text
}

fn explained(it: &Explanation) -> String {
    let key = head(&it.key);
    if it.is_hit {
        return format!("the code is there: {key}\n");
    }
    match &it.nearest {
        None => format!("there is no code {key}, nor any other\n"),
        Some(nearest) => {
            let differs = it.differs.join(", ");
            format!("there is no code {key}; of {} differs: {differs}\n", head(nearest))
        }
    }
}

/// Enough of a key to tell it from others.
fn head(key: &str) -> &str {
    key.get(..12).unwrap_or(key)
}
