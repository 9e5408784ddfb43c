//! `isobar cache` — what compiled code is kept, its end, and why a run does not find its own.

use std::path::Path;

use isobar_compiler::pipeline::NoHook;
use isobar_compiler::space::Domain;
use isobar_protocol::compile::Compiled;
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::report::{CacheEntry, CacheReport, Explanation};
use isobar_protocol::request::Request;
use isobar_runtime::cache;
use isobar_runtime::executable::{self, Executable};
use isobar_runtime::executors::OwnedSetting;
use isobar_runtime::plans::Plans;

use super::{Outcome, Usage, human, print, print_json, say};
use crate::backends::Backend;
use crate::cli::{CacheArgs, CacheCommand, ExplainMissArgs, Format};
use crate::compile::{self, ConfiguredProject};
use crate::config::{Environment, Tools};
use crate::document::{Document, Usage as Wrong, shown};
use crate::error::ApiError;
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
    let mut document = Document::read(args.file.as_deref(), &args.shared)?;
    if let Some(backend) = &args.backend {
        document.request.backend = Some(backend.clone());
    }
    let tools = Tools::find(environment);
    let wrong = |it: ApiError| Usage::Wrong(it.to_string());
    let backend = tools.backends.of(&document.request).map_err(wrong)?;
    backend.check(&tools.found()).map_err(wrong)?;
    // As a run has it, with the schedule that is kept for it.
    let order = Order::new(document.request, false, &limits::of_this_machine(), &tools);
    let made = compile::on_large_stack(|| found(&order, backend));
    match made {
        Ok((diagnostics, found)) => {
            report.diagnostics = diagnostics;
            match found {
                Some(Some(explanation)) => report.explanation = Some(explanation),
                Some(None) => {
                    let name = backend.name();
                    return Err(Usage::Wrong(format!("`{name}` keeps no code, so each run makes it anew")));
                }
                None if Outcome::of(&report.diagnostics) == Outcome::Fine => {
                    report.diagnostics.push(compile::no_stencil(&order.request));
                }
                None => {}
            }
        }
        Err(panic) => report.diagnostics.push(compile::crash(&panic)),
    }
    Ok(order.request)
}

/// The compiler's diagnostics, and whether the code is there: none where there is no stencil without errors,
/// or where the back end keeps no code.
fn found(order: &Order, backend: Backend) -> (Vec<Diagnostic>, Option<Option<Explanation>>) {
    let (request, executor) = (&order.request, backend.executor());
    let mut source = ConfiguredProject::of(request);
    if let Some(model) = executor.device().and_then(|it| it.model()) {
        source.config.passes.gpu.get_or_insert(model);
    }
    let domain = request.domain.or(source.directives.domain).map(|[i, j, k]| Domain::new(i, j, k));
    let tuned = domain.zip(order.cache.as_deref()).and_then(|(domain, root)| {
        let key =
            For { request, source: &source, backend, threads: order.threads, cc: &order.cc, domain }.key();
        tuned::find(root, &key).filter(|_| tuned::is_wanted(request, backend))
    });
    let scheduled = match &tuned {
        Some(it) => source.scheduled_for(backend).with_schedule(&it.document),
        None => source.clone(),
    };
    let compilation = scheduled.compile(&mut NoHook);
    let diagnostics = Compiled::new(&compilation.front, &compilation.notes, [], Vec::new()).diagnostics;
    if compilation.has_errors() || compilation.front.stencil.is_none() {
        return (diagnostics, None);
    }
    let setting = OwnedSetting::of(order.setting());
    let explanation = if executor.stores_plans() {
        // It is looked for by its text, before a schedule is.
        Executable::explain(&source.project, source.config.clone(), &*executor, &setting)
    } else {
        let levels = domain.and_then(|it| u32::try_from(it.k).ok());
        let plan = Plans::of(compilation).plan_for(executor.program(setting.borrow()));
        executable::explain(&plan, &*executor, (&setting, levels))
    };
    (diagnostics, Some(explanation.map(translate::explanation)))
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
    let mut rows = vec![["key", "stencil", "back end", "bytes", "used", ""].map(str::to_owned)];
    rows.extend(report.entries.iter().map(|it| {
        let state = if it.is_whole { "" } else { "damaged, made anew when needed" };
        let (key, bytes) = (head(&it.key).to_owned(), it.bytes.to_string());
        [key, it.stencil.clone(), it.backend.clone(), bytes, ago(it.unused_s), state.to_owned()]
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

/// `3 min ago`, in its largest whole unit.
fn ago(seconds: u64) -> String {
    let units = [("days", 86_400), ("h", 3600), ("min", 60)];
    let (unit, of) = units.into_iter().find(|it| seconds >= it.1).unwrap_or(("s", 1));
    format!("{} {unit} ago", seconds / of)
}

/// Enough of a key to tell it from others.
fn head(key: &str) -> &str {
    key.get(..12).unwrap_or(key)
}
