//! Names that change at a place which is not followed, wherever a stencil needs them: each diagnostic names the place.

use super::build;
use crate::config::Config;
use crate::diag::catalog::names::EXTERNAL;
use crate::project::Project;

/// A name `X` that is 1 and may be another value from line 3 on.
const CHANGED: &str = "import os\nX = 1\nif os.environ.get('HOME'): X = 2\n";
/// The same for a type.
const RETYPED: &str = "import os\nX = float\nif os.environ.get('HOME'): X = int\n";

/// The code, and the line of the place that is named beside.
fn told(text: &str) -> (String, Option<usize>) {
    let project = Project::of_one("main.py", text);
    let (_, found) = build(&project, &Config::default());
    let it = found.iter().find(|it| it.severity == crate::diag::Severity::Error).expect("it is refused");
    let place = it.secondary.iter().find(|it| it.text == "what this does is not followed");
    let line = place.map(|it| text[..it.span.start as usize].matches('\n').count() + 1);
    (it.code.to_string(), line)
}

#[test]
fn each_use_of_a_name_that_may_have_changed_names_the_place() {
    let body = |params: &str, interval: &str, stmt: &str| {
        format!(
            "@gtscript.stencil()\ndef s({params}out: Field[float]):\n    \
             with computation(PARALLEL), interval({interval}):\n        {stmt}\n"
        )
    };
    for (head, stencil, code) in [
        (CHANGED, body("", "...", "out = X"), "E07"),
        (CHANGED, body("", "X, None", "out = 1.0"), "E10"),
        (CHANGED, body("a: Field[float], ", "...", "out = a[X, 0, 0]"), "E27"),
        (CHANGED, body("a: Field[(float, (X,))], ", "...", "out = a[0, 0, 0][0]"), "E01"),
        (RETYPED, body("a: Field[X], ", "...", "out = a"), "E01"),
        (CHANGED, body("a: Field[float], ", "...", "if __INLINED(X == 1):\n            out = a"), "E50"),
    ] {
        assert_eq!(told(&format!("{head}{stencil}")), (code.to_owned(), Some(3)), "{stencil}");
    }
    let default = "@gtscript.stencil()\ndef s(out: Field[float], *, w: int = X):\n    \
                   with computation(PARALLEL), interval(...):\n        out = w\n";
    assert_eq!(told(&format!("{CHANGED}{default}")), ("E03".to_owned(), Some(3)));
    let called = "@gtscript.function\ndef f(x, y=X):\n    return x + y\n";
    let text = format!("{CHANGED}{called}{}", body("a: Field[float], ", "...", "out = f(a)"));
    assert_eq!(told(&text), ("E42".to_owned(), Some(3)));
    let external = "@gtscript.stencil(externals={'c': X})\ndef s(out: Field[float]):\n    \
                    from __externals__ import c\n    with computation(PARALLEL), interval(...):\n        out = c\n";
    assert_eq!(told(&format!("{CHANGED}{external}")), (EXTERNAL.0.to_owned(), Some(3)));
}
