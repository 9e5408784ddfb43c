//! `isobar check --fix`.

use super::*;

#[test]
fn certain_fixes_are_carried_out_and_written_back() {
    let wrong = "\
def s(q: FloatField, out: FloatField, n: int, w: float = 2):
    with computation(PARALLEL), interval(...):
        # é
        if n and 0.0 < q < w:
            out = min(q, w, math.sin(q))
        out = q // w
";
    let path = file("to_be_fixed.py", wrong.as_bytes());
    let checked = isobar(&["check", &path, "--fix"]);
    assert_eq!(checked.status.code(), Some(1));
    let told = text(&checked.stderr);
    assert!(told.contains("5 fixes carried out") && told.contains("error[E38]"), "{told}");
    let right = "\
def s(q: FloatField, out: FloatField, n: int, w: float = 2.0):
    with computation(PARALLEL), interval(...):
        # é
        if n != 0 and 0.0 < q and q < w:
            out = min(q, min(w, sin(q)))
        out = q // w
";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), right);

    let document = json(&isobar(&["check", &path, "--format", "json"]));
    assert_eq!(document["diagnostics"][0]["code"], "E38");
    assert_eq!(document["files"][0].get("fixes"), None);
    let path = file("to_be_told.py", wrong.as_bytes());
    let document = json(&isobar(&["check", &path, "--format", "json"]));
    let fix = &document["diagnostics"][0]["fixes"][0];
    assert_eq!(fix["title"], "write it as float64");
    let insertion = serde_json::json!({ "line": 1, "col": 59 });
    assert_eq!((&fix["edits"][0]["start"], &fix["edits"][0]["end"]), (&insertion, &insertion));
    assert_eq!(fix["edits"][0]["text"], ".0");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), wrong);
}

#[test]
fn a_fix_that_would_make_the_text_worse_is_left_out() {
    let fixed = |name: &str, wrong: &str| {
        let path = file(name, wrong.as_bytes());
        let told = text(&isobar(&["check", &path, "--fix"]).stderr);
        (std::fs::read_to_string(&path).unwrap(), told)
    };
    let (right, told) = fixed(
        "fix_types.py",
        "import numpy as np
def s(q: Field[np.int], r: Field[IJ, np.float], b: np.int, out: FloatField):
    with computation(PARALLEL), interval(...):
        if q = b:
            out == r
",
    );
    let expected = "import numpy as np
def s(q: Field[int], r: Field[IJ, float], b: int, out: FloatField):
    with computation(PARALLEL), interval(...):
        if q == b:
            out = r
";
    assert_eq!(right, expected, "{told}");
    assert!(told.contains("4 fixes carried out"), "{told}");
    // The slip in the name hides two errors.
    let wrong = "def s(q: FloatFeild, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = q[0, 1, 2, 3]
        q[1, 0, 0] = out
";
    let (right, told) = fixed("fix_hidden.py", wrong);
    assert_eq!(right, wrong, "{told}");
    assert!(told.contains("0 fixes carried out") && told.contains("1 fix left out"), "{told}");
    // An error beside a slip of the syntax waits until the slip is mended.
    let wrong = "def s(q: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = min(q, q, 1.0) +
";
    let (right, told) = fixed("fix_beside.py", wrong);
    assert_eq!(right, wrong, "{told}");
    assert!(!told.contains("left out"), "{told}");
}
