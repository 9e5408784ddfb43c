//! Carries out fixes on a text.

use super::{FileId, Fix, TextEdit};

/// The text of `file` with as many of the fixes as go together, and how many these are.
///
/// Of two fixes that change the same place the first one counts, and so it does where one inserts at the edge of
/// what the other replaces: what is left shows again when the new text is compiled. A fix of another file is left out.
#[must_use]
pub fn mend<'f>(text: &str, file: FileId, fixes: impl IntoIterator<Item = &'f Fix>) -> (String, usize) {
    let mut taken: Vec<&TextEdit> = Vec::new();
    let mut count = 0;
    for fix in fixes {
        let is_possible = fix.edits.iter().all(|it| {
            let is_here =
                it.span.file == file && text.get(it.span.start as usize..it.span.end as usize).is_some();
            is_here && !taken.iter().any(|other| touch(it, other))
        });
        if is_possible && !fix.edits.is_empty() {
            taken.extend(&fix.edits);
            count += 1;
        }
    }
    taken.sort_by_key(|it| it.span);
    let mut mended = String::new();
    let mut done = 0;
    for edit in taken {
        mended += text.get(done..edit.span.start as usize).unwrap_or_default();
        mended += &edit.text;
        done = edit.span.end as usize;
    }
    mended += text.get(done..).unwrap_or_default();
    (mended, count)
}

fn touch(one: &TextEdit, other: &TextEdit) -> bool {
    one.span.start <= other.span.end && other.span.start <= one.span.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let edit = |&(start, end, text): &(u32, u32, &str)| {
            TextEdit::replace(Span::new(FileId(0), start, end), text)
        };
        Fix { title: String::new(), edits: edits.iter().map(edit).collect() }
    }

    #[test]
    fn fixes_that_touch_each_other_wait_for_the_next_time() {
        let fixes =
            [fix(&[(6, 7, "z")]), fix(&[(0, 1, "("), (2, 2, ")")]), fix(&[(1, 4, "")]), fix(&[(9, 99, "")])];
        assert_eq!(mend("a + b + c", FileId(0), &fixes), ("( )+ b z c".to_owned(), 2));
        assert_eq!(mend("a + b + c", FileId(1), &fixes), ("a + b + c".to_owned(), 0));
    }
}
