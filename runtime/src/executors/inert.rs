//! Checks that loading a library runs none of its code: generated code runs when it is called, and not
//! before.
//!
//! A job loads its compiled C while it may still open files. A constructor, a resolver of a symbol, or a
//! library that it names by a path would run at that moment. The C compiler is told to add none of these
//! (`-nostartfiles`). A library that has one is refused before the system's loader sees it.
//!
//! The check reads the same parts as the loader: segments and the dynamic table, as the specification of ELF
//! has them.

use std::ops::Range;

/// A part of the file that lies in memory.
#[derive(Debug)]
struct Segment {
    at: Range<u64>,
    offset: u64,
    in_file: u64,
    is_writable: bool,
}

#[derive(Debug)]
struct Library<'a> {
    bytes: &'a [u8],
    segments: Vec<Segment>,
    /// Tags and their values.
    dynamic: Vec<(u64, u64)>,
}

const LOAD: u64 = 1;
const DYNAMIC: u64 = 2;
const WRITABLE: u64 = 2;

/// Entries that run something, or name another library by a path.
const REFUSED: [(u64, &str); 12] = [
    (12, "DT_INIT"),
    (13, "DT_FINI"),
    (15, "DT_RPATH"),
    (17, "DT_REL"),
    (22, "DT_TEXTREL"),
    (25, "DT_INIT_ARRAY"),
    (26, "DT_FINI_ARRAY"),
    (29, "DT_RUNPATH"),
    (32, "DT_PREINIT_ARRAY"),
    (0x6fff_fefb, "DT_DEPAUDIT"),
    (0x6fff_fefc, "DT_AUDIT"),
    (0x7fff_fffd, "DT_AUXILIARY"),
];
const FILTER: u64 = 0x7fff_ffff;

/// Checks a library of 64 bits, little-endian.
///
/// # Errors
///
/// The entry that would run, or why the file is not understood.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let library = Library::of(bytes).ok_or("it is no library that is understood")?;
    if let Some((_, name)) = REFUSED.iter().find(|it| library.value(it.0).is_some()) {
        return Err(format!("it has {name}, which made code never has"));
    }
    if library.value(FILTER).is_some() {
        return Err("it stands for another library".to_owned());
    }
    let sound = library.needs_no_path().and_then(|it| Some(it && library.resolves_nothing()?));
    match sound {
        Some(true) => Ok(()),
        Some(false) => {
            Err("it names a library by a path, resolves symbols by code of its own, or changes what is not its own"
                .to_owned())
        }
        None => Err("its tables lie outside of it".to_owned()),
    }
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let mut found = [0; 8];
    found.get_mut(..size)?.copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    Some(u64::from_le_bytes(found))
}

fn place(number: u64) -> Option<usize> {
    usize::try_from(number).ok()
}

impl<'a> Library<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        // ELF of 64 bits, little-endian.
        if bytes.get(..6)? != [0x7f, b'E', b'L', b'F', 2, 1] {
            return None;
        }
        let (first, size) = (place(number(bytes, 32, 8)?)?, place(number(bytes, 54, 2)?)?);
        let mut segments = Vec::<Segment>::new();
        let mut dynamic = None;
        for at in 0..place(number(bytes, 56, 2)?)? {
            let header = bytes.get(first.checked_add(at * size)?..)?;
            let field = |at: usize, size: usize| number(header, at, size);
            let (offset, address, in_file) = (field(8, 8)?, field(16, 8)?, field(32, 8)?);
            match field(0, 4)? {
                LOAD => {
                    let at = address..address.checked_add(field(40, 8)?)?;
                    // Which of two holds would be the loader's to say.
                    if segments.last().is_some_and(|it| it.at.end > at.start) || in_file > at.end - at.start {
                        return None;
                    }
                    segments.push(Segment { at, offset, in_file, is_writable: field(4, 4)? & WRITABLE != 0 });
                }
                DYNAMIC if dynamic.is_some() => return None,
                DYNAMIC => dynamic = Some((address, in_file)),
                _ => {}
            }
        }
        let mut library = Self { bytes, segments, dynamic: Vec::new() };
        let (address, size) = dynamic?;
        for at in 0..size / 16 {
            let entry = library.at(address.checked_add(at * 16)?, 16)?;
            let (tag, value) = (number(entry, 0, 8)?, number(entry, 8, 8)?);
            if tag == 0 {
                return Some(library);
            }
            library.dynamic.push((tag, value));
        }
        None
    }

    /// The bytes of the file that lie at an address.
    fn at(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let segment = self.segments.iter().find(|it| it.at.contains(&address))?;
        let within = address - segment.at.start;
        if within.checked_add(size)? > segment.in_file {
            return None;
        }
        let start = place(segment.offset.checked_add(within)?)?;
        self.bytes.get(start..start.checked_add(place(size)?)?)
    }

    fn value(&self, tag: u64) -> Option<u64> {
        self.dynamic.iter().find(|it| it.0 == tag).map(|it| it.1)
    }

    /// Whether it names other libraries as the system finds them.
    fn needs_no_path(&self) -> Option<bool> {
        const NEEDED: u64 = 1;
        const STRINGS: u64 = 5;
        for (_, offset) in self.dynamic.iter().filter(|it| it.0 == NEEDED) {
            let mut at = self.value(STRINGS)?.checked_add(*offset)?;
            loop {
                match self.at(at, 1)?[0] {
                    0 => break,
                    b'/' | b'$' => return Some(false),
                    _ => at += 1,
                }
            }
        }
        Some(true)
    }

    /// Whether its addresses are filled in without code of its own, and within memory of its own that may be written.
    fn resolves_nothing(&self) -> Option<bool> {
        const WITH_ADDENDS: [u64; 2] = [7, 8];
        const OF_CALLS: [u64; 2] = [23, 2];
        const RELATIVE: [u64; 2] = [36, 35];
        /// Filled in with what a function answers: of x86-64, and of AArch64.
        const BY_CODE: [u64; 2] = [37, 1032];
        let is_own = |address: u64| {
            self.segments
                .iter()
                .any(|it| it.is_writable && it.at.contains(&address) && it.at.end - address >= 8)
        };
        for [table, size] in [WITH_ADDENDS, OF_CALLS] {
            let Some(table) = self.value(table) else { continue };
            for at in 0..self.value(size)? / 24 {
                let entry = self.at(table.checked_add(at * 24)?, 24)?;
                let (address, kind) = (number(entry, 0, 8)?, number(entry, 8, 4)?);
                if BY_CODE.contains(&kind) || (kind != 0 && !is_own(address)) {
                    return Some(false);
                }
            }
        }
        if let Some(table) = self.value(RELATIVE[0]) {
            let mut next = 0_u64;
            for at in 0..self.value(RELATIVE[1])? / 8 {
                let entry = number(self.at(table.checked_add(at * 8)?, 8)?, 0, 8)?;
                if entry & 1 == 0 {
                    if !is_own(entry) {
                        return Some(false);
                    }
                    next = entry.checked_add(8)?;
                    continue;
                }
                // Bit by bit, the 63 words behind the last one.
                for bit in 1..64 {
                    let address = next.checked_add((bit - 1) * 8)?;
                    if entry >> bit & 1 == 1 && !is_own(address) {
                        return Some(false);
                    }
                }
                next = next.checked_add(63 * 8)?;
            }
        }
        self.has_no_resolver()
    }

    /// Whether no symbol of it is found by calling a function.
    fn has_no_resolver(&self) -> Option<bool> {
        const SYMBOLS: u64 = 6;
        const RESOLVER: u64 = 10;
        let symbols = self.value(SYMBOLS)?;
        for at in 0..self.n_symbols()? {
            let symbol = self.at(symbols.checked_add(at * 24)?, 24)?;
            let is_defined = number(symbol, 6, 2)? != 0;
            if number(symbol, 4, 1)? & 0xf == RESOLVER && is_defined {
                return Some(false);
            }
        }
        Some(true)
    }

    /// How many symbols can be found in it, by the table that the loader looks them up in.
    fn n_symbols(&self) -> Option<u64> {
        const HASH: u64 = 4;
        const GNU_HASH: u64 = 0x6fff_fef5;
        let word = |at: u64| number(self.at(at, 4)?, 0, 4);
        let of_plain = match self.value(HASH) {
            Some(table) => word(table.saturating_add(4))?,
            None => 0,
        };
        let Some(table) = self.value(GNU_HASH) else { return (of_plain > 0).then_some(of_plain) };
        let (n_buckets, first, n_filters) =
            (word(table)?, word(table.saturating_add(4))?, word(table.saturating_add(8))?);
        let buckets = table.checked_add(16 + n_filters * 8)?;
        let mut last = 0;
        for at in 0..n_buckets {
            last = last.max(word(buckets.saturating_add(at * 4))?);
        }
        if last < first {
            return Some(first.max(of_plain));
        }
        // The last chain ends with an odd word.
        let chains = buckets.saturating_add(n_buckets * 4);
        while word(chains.saturating_add((last - first) * 4))? & 1 == 0 {
            last += 1;
        }
        Some((last + 1).max(of_plain))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A library as jobs have it made, of this C; none where there is no compiler.
    fn library(text: &str, more: &[&str]) -> Option<Vec<u8>> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("made.c"), text).expect("it is ours");
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O1", "-o", "made.so", "made.c", "-lm"]).args(more);
        let done = command.current_dir(folder.path()).status();
        if !done.is_ok_and(|it| it.success()) {
            isobar_testing::skip_part("constructors", "there is no C compiler");
            return None;
        }
        Some(std::fs::read(folder.path().join("made.so")).expect("it was made"))
    }

    const ADDS: &str = "#include <math.h>\ndouble table[4] = {1, 2};\ndouble *at = table + 1;\n\
        double add(double a) { return *at + sin(a); }\n";

    #[test]
    fn made_code_runs_nothing_when_it_is_loaded_and_what_does_is_refused() {
        let bare = ["-nostartfiles"];
        let Some(fine) = library(ADDS, &bare) else { return };
        assert_eq!(check(&fine), Ok(()));
        let of = |text: &str, more: &[&str]| library(&format!("{ADDS}{text}"), more).map(|it| check(&it));
        for (text, more) in [
            ("__attribute__((constructor)) void first(void) { at = 0; }", &bare[..]),
            ("__attribute__((destructor)) void last(void) { at = 0; }", &bare[..]),
            ("void _init(void) { at = 0; }", &bare[..]),
            (
                "void first(void) { at = 0; } \
                 __attribute__((section(\".init_array\"))) void (*then)(void) = first;",
                &bare[..],
            ),
            (
                "static double own(double a) { return a; } static void *which(void) { return own; } \
                 double other(double a) __attribute__((ifunc(\"which\")));",
                &bare[..],
            ),
            (
                "static double own(double a) { return a; } static void *which(void) { return own; } \
                 static double other(double a) __attribute__((ifunc(\"which\"))); \
                 double (*through)(double) = other;",
                &bare[..],
            ),
            ("", &["-nostartfiles", "-Wl,-rpath,/tmp"][..]),
            // Sections that the C compiler adds by itself.
            ("", &[][..]),
        ] {
            let refused = of(text, more).expect("there is a compiler");
            assert!(refused.is_err(), "{text} {more:?}");
        }
    }

    #[test]
    fn no_bytes_make_the_check_fall_over() {
        let Some(fine) = library(ADDS, &["-nostartfiles"]) else { return };
        for length in (0..fine.len()).step_by(97) {
            let _ = check(&fine[..length]);
        }
        // Each byte of the headers and tables, turned over.
        for at in 0..fine.len().min(4096) {
            let mut changed = fine.clone();
            changed[at] = !changed[at];
            let _ = check(&changed);
        }
        assert!(check(b"").is_err() && check(&fine[..64]).is_err());
    }
}
