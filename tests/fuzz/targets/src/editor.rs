//! Whatever an editor asks about any text, half typed or nonsense.

use isobar_compiler::config::Config;
use isobar_compiler::diag::{FileId, Span};
use isobar_compiler::project::Project;
use isobar_service::analysis::applied;
use isobar_service::{Analysis, completion, folding, format, highlight, hover, navigate, rename, signature};

/// How many places of a text are asked about.
const PLACES: usize = 16;

pub fn editor(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let project = Project::of_one("main.py", text);
    let file = FileId(0);
    let analysis = Analysis::new(&project, &Config::default());
    let within = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
    for it in highlight::highlights(&analysis, file) {
        assert!(within(it.span), "a token within the text");
    }
    let _ = folding::folds(&analysis, file);
    let laid_out = applied(&project, &format::format(&analysis, file));
    let again = Analysis::new(&laid_out, &Config::default());
    assert_eq!(format::format(&again, file), Vec::new(), "what is laid out stays");
    let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    for at in places.step_by(text.len() / PLACES + 1) {
        let at = u32::try_from(at).expect("texts are short");
        let _ = hover::hover(&analysis, file, at);
        let _ = completion::complete(&analysis, file, at);
        let _ = signature::signature(&analysis, file, at);
        assert!(
            navigate::definition(&analysis, file, at).into_iter().all(within),
            "a definition within the text"
        );
        let _ = navigate::references(&analysis, file, at);
        if let Ok((_, name)) = rename::prepare(&analysis, file, at)
            && let Ok(edits) = rename::rename(&analysis, file, at, "renamed")
        {
            assert!(!edits.is_empty() || name == "renamed", "`{name}` stands somewhere");
            let _ = applied(&project, &edits);
        }
    }
}
