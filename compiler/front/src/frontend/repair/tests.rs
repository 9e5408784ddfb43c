//! Texts with slips, and what is said of them.

use expect_test::{Expect, expect};

use crate::diag::mend::mend;
use crate::diag::{Diagnostics, FileId, LineIndex};
use crate::frontend::parse::module;

/// Compares the diagnostics, and the text after all fixes, applied repeatedly.
fn check(text: &str, expected: &Expect) {
    let mut found = Diagnostics::default();
    module(FileId(0), text, &mut found);
    let index = LineIndex::new(text);
    let mut shown = String::new();
    for it in found.iter() {
        let at = index.line_col(text, it.primary.as_ref().unwrap().span.start);
        let also = it.secondary.iter().map(|it| {
            let at = index.line_col(text, it.span.start);
            format!(" | {}:{} {}", at.line, at.col, it.text)
        });
        shown += &format!("{}:{} {}{}\n", at.line, at.col, it.message, also.collect::<String>());
    }
    let mut mended = text.to_owned();
    // A second slip in the same line may be mended only in the next iteration.
    for _ in 0..3 {
        mended = mend(&mended, FileId(0), found.iter().filter_map(|it| it.fixes.first())).0;
        found = Diagnostics::default();
        module(FileId(0), &mended, &mut found);
    }
    if mended != text {
        shown += &mended;
    }
    expected.assert_eq(&shown);
}

#[test]
fn an_assignment_in_a_condition_is_told_once() {
    check(
        "if a = 0.0:\n    b = 1\n",
        &expect![[r#"
        1:6 `=` assigns, and a condition compares
        if a == 0.0:
            b = 1
    "#]],
    );
    check(
        "if (a = 0.0) and b = c:\n    b = 1\nelif f(a, b=1) = 2:\n    b = 2\n",
        &expect![[r#"
        1:7 `=` assigns, and a condition compares | 1:20 and here
        3:16 `=` assigns, and a condition compares
        if (a == 0.0) and b == c:
            b = 1
        elif f(a, b=1) == 2:
            b = 2
    "#]],
    );
    check(
        "x = 1.0 if a = b else 2.0\nwhile a=b:\n    a = c\n",
        &expect![[r#"
        1:14 `=` assigns, and a condition compares
        2:8 `=` assigns, and a condition compares
        x = 1.0 if a == b else 2.0
        while a==b:
            a = c
    "#]],
    );
}

#[test]
fn a_bracket_that_is_never_closed_is_told_where_it_was_opened() {
    check(
        "b = max(a, (b + 1.0)\na = 2.0\nb = a\n",
        &expect![[r#"
        1:8 this `(` is never closed | 1:21 `)` is missing here at the latest
    "#]],
    );
    check(
        "b = a[0, 0, 1\na = 2.0 +\n",
        &expect![[r#"
        1:6 this `[` is never closed | 1:14 `]` is missing here at the latest
        2:10 expected an expression
    "#]],
    );
    check(
        "def s(a: FloatField, b: FloatField:\n    with computation(PARALLEL), interval(...:\n        b = a\n        a = b\n",
        &expect![[r#"
        1:6 this `(` is never closed | 1:35 `)` is missing here at the latest
        2:41 this `(` is never closed | 2:45 `)` is missing here at the latest
    "#]],
    );
    check(
        "def s(a):\n    b = f(g(a, b\n\n\n",
        &expect![[r#"
            2:12 this `(` is never closed | 2:10 nor is this one | 2:17 `)` is missing here at the latest
        "#]],
    );
    check(
        "b = f(a[0, 0)\n",
        &expect![[r#"
        1:8 this `[` is never closed | 1:13 `]` is missing here at the latest
    "#]],
    );
    check(
        "b = (a\n    + b]\n",
        &expect![[r#"
        2:8 `]` closes a `(` | 1:5 opened here
    "#]],
    );
    check(
        "b = (a +\n    def +\n",
        &expect![[r#"
            1:5 this `(` is never closed | 2:10 `)` is missing here at the latest
        "#]],
    );
}

#[test]
fn a_bracket_that_closes_nothing_is_told() {
    check(
        "b = a)\na = b\n",
        &expect![[r#"
        1:6 this `)` closes nothing
    "#]],
    );
    check(
        "b = a * )\n",
        &expect![[r#"
        1:9 expected an expression
    "#]],
    );
}

#[test]
fn characters_that_look_like_others_are_named() {
    check(
        "b =\u{a0}a + 1.0\n",
        &expect![[r#"
        1:4 a no-break space (U+00A0) is no space to Python
        b = a + 1.0
    "#]],
    );
    check(
        "with f():\n\u{a0}\u{a0}\u{a0}\u{a0}b = a\n\u{a0}\u{a0}\u{a0}\u{a0}a = b\n",
        &expect![[r#"
        2:1 a no-break space (U+00A0) is no space to Python | 3:1 and here
        with f():
            b = a
            a = b
    "#]],
    );
    check(
        "b = a \u{2212} 1.0 \u{2013} b\na = b \u{ff0b} 1.0\nx = \u{201c}y\u{201d}\n",
        &expect![[r#"
        1:7 a minus sign `−` (U+2212) is no `-` to Python
        1:13 an en dash `–` (U+2013) is no `-` to Python
        2:7 a full-width character `＋` (U+FF0B) is no `+` to Python
        3:5 a typographic quotation mark `“` (U+201C) is no `"` to Python | 3:7 and here
        b = a - 1.0 - b
        a = b + 1.0
        x = "y"
    "#]],
    );
    check(
        "b =\u{200b}a\na = b\u{feff}\n# \u{a0}\nx = '\u{a0}'\n",
        &expect![[r#"
        1:4 a zero-width space (U+200B) stands here and does not show
        2:6 a byte order mark (U+FEFF) stands here and does not show
        b =a
        a = b
        #  
        x = ' '
    "#]],
    );
    check(
        "b = a $ b\nif a ? b:\n    c = §\n",
        &expect![[r#"
        1:7 the character `$` (U+0024) means nothing here
        2:6 the character `?` (U+003F) means nothing here
        3:9 the character `§` (U+00A7) means nothing here
    "#]],
    );
}

#[test]
fn signs_of_other_languages_are_written_as_python_has_them() {
    check(
        "if a > 0 && !(b < 0) || c:\n    b = 1\nelse if d <> e:\n    b = 2\n",
        &expect![[r#"
        1:10 `&&` is no operator of Python
        1:22 `||` is no operator of Python
        1:13 `!` is no operator of Python
        3:1 `else if` is one word in Python
        3:11 `<>` is no operator of Python
        if a > 0 and not (b < 0) or c:
            b = 1
        elif d != e:
            b = 2
    "#]],
    );
    check(
        "def s(a)\n    if a > 0.0 # why\n        b = a\n    else\n        b = c\n",
        &expect![[r#"
        1:9 the line of this `def` ends without `:`
        2:15 the line of this `if` ends without `:`
        4:9 the line of this `else` ends without `:`
        def s(a):
            if a > 0.0: # why
                b = a
            else:
                b = c
    "#]],
    );
}

#[test]
fn of_each_other_line_the_first_fault_is_told() {
    check(
        "a = +\nb = c c c\nif a b:\n    c = d\nd = e\n",
        &expect![[r#"
        1:6 expected an expression
        2:7 simple statements must be separated by newlines or semicolons
        3:6 expected `:`, found name
    "#]],
    );
}

#[test]
fn a_text_that_is_not_utf_8_is_one_diagnostic() {
    check(
        "a = 1.0 # what was written in Latin-1: Gr\0\0e\nb = '\0'\n",
        &expect![[r#"
            1:42 the file is not UTF-8
        "#]],
    );
    check(
        "a\0 \0=\0 \0b\0",
        &expect![[r#"
        1:1 the file is not UTF-8
    "#]],
    );
}

#[test]
fn a_long_text_of_nothing_but_slips_is_answered_soon() {
    for piece in
        ["a\u{a0}= b\n", "if a = b:\n", "a\u{a0}\u{2212}\u{201c}", "(\n", "]\n", "a b\n", "else if a && b\n"]
    {
        let mut found = Diagnostics::default();
        module(FileId(0), &piece.repeat((1 << 18) / piece.len()), &mut found);
        let count = found.count();
        assert!((1..=150).contains(&count), "{count} for {piece}");
    }
}
