//! Names that every language takes, whatever a stencil calls its parameters.

use std::collections::BTreeSet;

/// The names of one scope. Fortran does not tell upper case from lower case, so neither does this.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
}

/// Fortran takes 63 characters; what is put behind a name has fewer than 20.
const MOST: usize = 40;

impl Names {
    /// The name, or one like it that is free and a word of no language.
    pub(super) fn choose(&mut self, wanted: &str) -> String {
        let mut base: String =
            wanted.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).take(MOST).collect();
        // Names with an underscore in front belong to compilers, and Fortran has none.
        if !base.starts_with(|it: char| it.is_ascii_alphabetic()) {
            base.insert(0, 'x');
        }
        if base.ends_with('_') {
            base.push('x');
        }
        // Two underscores in a row belong to C++.
        while base.contains("__") {
            base = base.replace("__", "_");
        }
        let is_reserved = |name: &str| {
            let lower = name.to_ascii_lowercase();
            WORDS.iter().any(|words| words.split_ascii_whitespace().any(|it| it == lower))
                || ["isobar", "cfi_"].iter().any(|it| lower.starts_with(it))
        };
        let mut name = if is_reserved(&base) { format!("{base}_x") } else { base.clone() };
        for number in 2_u32.. {
            if self.taken.insert(name.to_ascii_lowercase()) {
                break;
            }
            name = format!("{base}_{number}");
        }
        name
    }
}

/// Words of the languages, and names that stand beside a stencil's in what is generated.
const WORDS: [&str; 6] = [
    // C and C++, with what their headers and compilers define.
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl complex concept const \
     consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast else enum explicit \
     export extern false float for friend goto if imaginary inline int int8_t int16_t int32_t int64_t uint32_t uint64_t \
     long main mutable namespace new noexcept not not_eq null nullptr operator or or_eq private protected public register \
     reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast std struct switch \
     template this thread_local throw true try typedef typeid typename typeof union unix unsigned using virtual void \
     volatile wchar_t while xor xor_eq linux i386 errno stdin stdout stderr eof assert size_t",
    // Fortran: words that stand where a declaration begins, and types of `iso_c_binding`.
    "end contains interface module program subroutine function integer real logical character type use implicit \
     procedure import result intent dimension allocatable pointer target optional value bind c_ptr c_bool c_int8_t \
     c_int16_t c_int32_t c_int64_t c_float c_double c_char c_loc c_null_ptr",
    "as async await box crate dyn fn impl in let loop macro match mod move mut override pub priv ref self super trait \
     try unsafe unsized where yield f32 f64 i8 i16 i32 i64 u8 u32 u64 str none some ok err vec option string gen",
    // Python.
    "and as assert async await break class continue def del elif else except finally for from global if import in is \
     lambda none nonlocal not or pass raise return try while with yield ctypes os numpy print len range list dict tuple",
    // Names that a call has beside the stencil's parameters.
    "call error domain origin origins threads scratch scratch_bytes options status view field description given views \
     passed scalars fields run message status_t caller answer user",
    "python test tests lib src std core alloc proc_macro build example",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_in_every_language() {
        let mut names = Names::default();
        let wanted =
            ["q", "Q", "lambda", "_x", "größe", "if", "t__in", "x", "domain", "do", "isobar_q", "a_"];
        let chosen = wanted.map(|it| names.choose(it));
        let expected = [
            "q",
            "Q_2",
            "lambda_x",
            "x_x",
            "gr_e",
            "if_x",
            "t_in",
            "x",
            "domain_x",
            "do_x",
            "isobar_q_x",
            "a_x",
        ];
        assert_eq!(chosen, expected);
        let long = names.choose(&"a".repeat(200));
        assert!(long.len() <= MOST);
    }
}
