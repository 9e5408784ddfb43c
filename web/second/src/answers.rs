//! Answers to the questions of an editor.

use isobar_compiler::config::Config;
use isobar_compiler::diag::{LineCol, LineIndex, Span};
use isobar_compiler::front::Fronts;
use isobar_compiler::project::Project;
use isobar_protocol::compile::SourceRange;
use isobar_protocol::diagnostic::{Edit, Position, SpanResolver};
use isobar_protocol::service::{Item, Query, QueryAnswer, SourceOccurrence};
use isobar_service::highlight::{HighlightClass, highlights};
use isobar_service::{Analysis, Desk, completion, folding, navigate, rename};

/// Answers a question about a file of a project; nothing where the project does not have the file.
pub fn answer(
    desk: &mut Desk,
    fronts: &mut Fronts,
    project: &Project,
    config: &Config,
    file: &str,
    query: &Query,
) -> QueryAnswer {
    let Some(file) = project.file_id(file) else { return QueryAnswer::Nothing };
    let text = project.text(file);
    let lines = LineIndex::new(text);
    let offset = |at: Position| lines.offset(text, LineCol { line: at.line, col: at.col });
    let places = SpanResolver::new(project.files.iter().map(|(name, text)| (name.as_str(), &**text)));
    let place = |span: Span| {
        let (file, start, end) = places.of(span);
        SourceRange { file, start, end }
    };
    let ends = |span: Span| {
        let SourceRange { start, end, .. } = place(span);
        (start, end)
    };
    let to_edits = |edits: Vec<isobar_service::Edit>| QueryAnswer::Edits {
        edits: edits
            .into_iter()
            .map(|it| {
                let (file, start, end) = places.of(it.span);
                Edit { file, start, end, text: it.text }
            })
            .collect(),
    };
    // Queries that follow every key press do not wait for a compilation. Queries about extents need one.
    match query {
        Query::Tokens => {
            let tokens = highlights(desk.read(project, config), file).into_iter().map(|it| {
                let (start, end) = ends(it.span);
                let class = HighlightClass::ALL.iter().position(|class| *class == it.class).unwrap_or(0);
                (start, end, class, u8::from(it.is_declaration) + 2 * u8::from(it.is_written))
            });
            let tokens = tokens.collect();
            QueryAnswer::Tokens { classes: HighlightClass::ALL.map(|it| it.name().to_owned()).into(), tokens }
        }
        Query::Folds => {
            let folds = folding::folds(desk.read(project, config), file);
            QueryAnswer::Folds { folds: folds.into_iter().map(|it| ends(it.span)).collect() }
        }
        Query::Format => to_edits(isobar_service::format::format(desk.read(project, config), file)),
        Query::Hover { at } => {
            let at = offset(*at);
            let analysis = desk.analyse(fronts, project, config, Some((file, at)));
            isobar_service::hover::hover(analysis, file, at).map_or(QueryAnswer::Nothing, |it| {
                QueryAnswer::Hover {
                    place: place(it.span),
                    code: it.code,
                    rows: it.rows.into_iter().map(|(label, text)| (label.to_owned(), text)).collect(),
                    about: it.about,
                }
            })
        }
        Query::Complete { at } => {
            let at = offset(*at);
            let analysis = desk.analyse(fronts, project, config, Some((file, at)));
            let found = completion::complete(analysis, file, at);
            let items = found.items.into_iter().map(|it| Item {
                label: it.label,
                kind: it.kind.name().to_owned(),
                detail: it.detail,
                about: it.about,
                insert: it.insert,
            });
            QueryAnswer::Complete { place: place(found.span), items: items.collect() }
        }
        Query::Signature { at } => {
            let found = isobar_service::signature::signature(desk.read(project, config), file, offset(*at));
            found.map_or(QueryAnswer::Nothing, |it| QueryAnswer::Signature {
                label: it.label,
                params: it.params,
                active: it.active,
                about: it.about,
            })
        }
        Query::Definition { at } => {
            let analysis = desk.read(project, config);
            listed(analysis, &places, navigate::definition(analysis, file, offset(*at)))
        }
        Query::References { at } => {
            let analysis = desk.read(project, config);
            let found = navigate::references(analysis, file, offset(*at));
            listed(analysis, &places, found.into_iter().map(|it| it.span).collect())
        }
        Query::Name { at } => match rename::prepare(desk.read(project, config), file, offset(*at)) {
            Ok((span, name)) => QueryAnswer::Name { place: place(span), name },
            Err(why) => QueryAnswer::Refused { why },
        },
        Query::Rename { at, name } => {
            match rename::rename(desk.read(project, config), file, offset(*at), name) {
                Ok(edits) => to_edits(edits),
                Err(why) => QueryAnswer::Refused { why },
            }
        }
    }
}

fn listed(analysis: &Analysis, places: &SpanResolver<'_>, spans: Vec<Span>) -> QueryAnswer {
    let each = spans.into_iter().map(|span| {
        let (file, start, end) = places.of(span);
        let line = analysis.project.text(span.file).lines().nth((start.line as usize).saturating_sub(1));
        SourceOccurrence {
            line: line.unwrap_or("").trim().to_owned(),
            place: SourceRange { file, start, end },
        }
    });
    QueryAnswer::Places { places: each.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str, query: &Query) -> QueryAnswer {
        let project = Project::of_one("main.py", text);
        answer(&mut Desk::default(), &mut Fronts::default(), &project, &Config::default(), "main.py", query)
    }

    const TEXT: &str = "# é\ndef f(q: FloatField):\n    with computation(PARALLEL), interval(...):\n        q = q[1, 0, 0]\n";

    #[test]
    fn places_are_lines_and_columns_in_characters() {
        let at = Position { line: 4, col: 14 };
        let QueryAnswer::Hover { place, code, .. } = ask(TEXT, &Query::Hover { at }) else {
            panic!("nothing")
        };
        assert_eq!((place.start, place.end), (Position { line: 4, col: 13 }, Position { line: 4, col: 14 }));
        assert_eq!(code, "q: Field[IJK, float64]");
        let QueryAnswer::Tokens { tokens, .. } = ask("x = 'é'  # ü\n", &Query::Tokens) else {
            panic!("nothing")
        };
        assert_eq!(tokens[2].0, Position { line: 1, col: 10 });
    }

    #[test]
    fn a_question_about_a_place_or_file_that_is_not_there_is_answered() {
        let far = Position { line: 90, col: 90 };
        for at in [far, Position { line: 0, col: 0 }] {
            assert_eq!(ask(TEXT, &Query::Hover { at }), QueryAnswer::Nothing);
            assert!(matches!(ask(TEXT, &Query::Complete { at }), QueryAnswer::Complete { .. }));
            assert!(matches!(ask(TEXT, &Query::Name { at }), QueryAnswer::Refused { .. }));
        }
        let project = Project::of_one("main.py", TEXT);
        let config = Config::default();
        let told =
            answer(&mut Desk::default(), &mut Fronts::default(), &project, &config, "b.py", &Query::Folds);
        assert_eq!(told, QueryAnswer::Nothing);
    }
}
