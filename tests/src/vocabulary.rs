//! The words that may stand in generated C. Names that a client gives to files, stencils and fields add no
//! others.
//!
//! The fuzzers hold every text against this list, so it uses the standard library alone.

/// The names of headers.
const HEADERS: [&str; 7] =
    ["<math.h>", "<omp.h>", "<stdbool.h>", "<stddef.h>", "<stdint.h>", "<stdlib.h>", "<string.h>"];

/// The words that a directive starts with, but for `line` and `include`.
const DIRECTIVES: [&str; 9] = ["if", "ifdef", "ifndef", "elif", "else", "endif", "define", "undef", "pragma"];

/// The words before a parenthesis, beside those with one of the [`PREFIXES`]: words of C and OpenMP, and
/// functions.
const CALLED: &str = "if for while switch return sizeof defined _Alignas _Pragma __attribute__ aligned vector_size \
    visibility optimize schedule num_threads reduction critical collapse simdlen safelen private omp \
    memcpy memset malloc free fabs floor ceil trunc rint round sqrt fmod copysign isnan isinf isfinite signbit fmin fmax";

/// Names that only generated code has: what a stencil calls something is never named so.
const PREFIXES: [&str; 5] = ["isobar_", "ISOBAR_", "omp_get_", "__builtin_", "step_"];

/// Checks that a text has only what may stand in generated C.
///
/// # Errors
///
/// The line, and why.
pub fn check(text: &str) -> Result<(), String> {
    if let Some(it) = text.chars().find(|it| !matches!(it, '\n' | ' '..='~')) {
        return Err(format!("the character {it:?}"));
    }
    let code = without_comments(text)?;
    let mut is_macro = false;
    for line in code.lines() {
        let is_continued = line.ends_with('\\');
        let directive = line.trim_start().strip_prefix('#');
        let done = match directive {
            Some(directive) => check_directive(directive.trim_start()),
            // The parameters of a macro may be anything of ours.
            None if is_macro => Ok(()),
            None => check_code(line),
        };
        done.map_err(|why| format!("{why} in `{line}`"))?;
        is_macro = is_continued && (is_macro || directive.is_some());
    }
    Ok(())
}

/// The hand-written texts in front of kernels.
const PRELUDES: [&str; 3] = [
    include_str!("../../shaders/prelude.cuh"),
    include_str!("../../shaders/stages.cuh"),
    include_str!("../../shaders/traps.cuh"),
];

/// The same of generated CUDA: all but the preludes has the words of C, and those of a kernel's head.
///
/// # Errors
///
/// The line, and why.
pub fn check_cuda(text: &str) -> Result<(), String> {
    let own = PRELUDES.iter().fold(text.to_owned(), |text, it| text.replacen(it, "", 1));
    let own = own.replace("extern \"C\" __global__ void __launch_bounds__(", "void isobar_bounds(");
    let own = own.replace("static __device__ const ", "static const ").replace(" kernel_", " isobar_kernel_");
    check(&own)
}

/// The text with a space for each comment.
fn without_comments(text: &str) -> Result<String, String> {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        let (comment, after) = after.split_once("*/").ok_or("a comment without an end")?;
        code.push_str(before);
        // Lines stay lines.
        code.push(' ');
        code.extend(comment.chars().filter(|&it| it == '\n'));
        rest = after;
    }
    code.push_str(rest);
    if code.contains("//") { Err("a comment to the end of the line".to_owned()) } else { Ok(code) }
}

fn check_directive(directive: &str) -> Result<(), String> {
    if let Some(place) = directive.strip_prefix("line ") {
        let Some((line, name)) = place.split_once(' ') else {
            return Err("a directive without a name".to_owned());
        };
        let name = name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or_default();
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let is_known = is_number(line) && (is_number(name) || name == "stencil.c");
        return if is_known { Ok(()) } else { Err("a name".to_owned()) };
    }
    if let Some(header) = directive.strip_prefix("include ") {
        return if HEADERS.contains(&header.trim()) { Ok(()) } else { Err("a header".to_owned()) };
    }
    let word = directive.split(|it: char| !it.is_ascii_alphabetic()).next().unwrap_or_default();
    if !DIRECTIVES.contains(&word) {
        return Err("a directive".to_owned());
    }
    if directive.replace("visibility(\"hidden\")", "").contains(['"', '\'']) {
        Err("a literal text".to_owned())
    } else {
        Ok(())
    }
}

fn check_code(line: &str) -> Result<(), String> {
    if line.contains(['"', '\'', '#', '@', '$', '`']) {
        return Err("a literal text, or a mark".to_owned());
    }
    // `??/` and its like.
    if line.contains("??") {
        return Err("a trigraph".to_owned());
    }
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    for (at, _) in line.match_indices('(') {
        let before = line[..at].trim_end();
        let start = before.rfind(|it| !is_letter(it)).map_or(0, |it| it + 1);
        let word = &before[start..];
        let is_name = word.starts_with(|it: char| !it.is_ascii_digit());
        // Functions of single precision end with `f`.
        let is_function = |word: &str| CALLED.split_ascii_whitespace().any(|it| it == word);
        let is_known = is_function(word)
            || word.strip_suffix('f').is_some_and(is_function)
            || PREFIXES.iter().any(|it| word.starts_with(it));
        if is_name && !is_known {
            return Err(format!("a call of `{word}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_could_bring_in_is_found() {
        for text in [
            "\r#include </etc/hostname>\r",
            "#include \"/etc/hostname\"\n",
            "#include <stdio.h>\n",
            "#line 7 \"main.py\"\n",
            "#line 7 \"0\" \"\n",
            "#warning 1\n",
            "#pragma GCC diagnostic push \"x\"\n",
            "  double x = system(1);\n",
            "  char *x = \"x\";\n",
            "  x ??= y;\n",
            "// x\n",
            "/* x\n",
            "  x = \u{e9};\n",
        ] {
            assert!(check(text).is_err(), "{text:?}");
        }
        let fine = "#include <math.h>\n#line 7 \"0\"\n  for (k = 0; k < K; k++) { /* \"it's\"\n (x) */ q[k] = -(2 * (r)); }\n";
        assert_eq!(check(fine), Ok(()));
    }
}
