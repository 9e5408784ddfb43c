//! Mutations of inputs, the same for the same seed: what a fuzzer does first, without coverage.

/// Words that are put into inputs: the dictionary that libFuzzer gets.
const DICTIONARY: &str = include_str!("../../gtscript.dict");

/// Longer inputs tell little more, and take long.
const MOST_BYTES: usize = 6_000;

/// Numbers that look random, and are the same for the same seed (`SplitMix64`).
#[derive(Clone, Debug)]
struct Numbers(u64);

impl Numbers {
    /// Below `n`; 0 where there is nothing below.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((it ^ (it >> 31)) % (n as u64).max(1)).unwrap_or(0)
    }
}

/// One of the inputs with one to four changes, as the seed decides.
#[must_use]
pub fn mutated(inputs: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let words = words();
    let mut input = inputs.get(numbers.below(inputs.len())).cloned().unwrap_or_default();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(input.len() + 1);
        match numbers.below(6) {
            0 => input.truncate(at),
            1 => {
                let other = inputs.get(numbers.below(inputs.len())).map_or(&[][..], |it| &it[..]);
                input.truncate(at);
                input.extend_from_slice(&other[numbers.below(other.len() + 1)..]);
            }
            2 => {
                let line = line_at(&input, at);
                let copy = input[line.clone()].to_vec();
                input.splice(line.end..line.end, copy);
            }
            3 => drop(input.drain(line_at(&input, at))),
            4 => {
                let word = words[numbers.below(words.len())].clone();
                input.splice(at..at, word);
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    // Seven bits, so that most texts stay texts.
                    *byte ^= 1 << numbers.below(7);
                }
            }
        }
    }
    input.truncate(MOST_BYTES);
    input
}

/// The line around a position, with its end.
fn line_at(input: &[u8], at: usize) -> std::ops::Range<usize> {
    let first = input[..at].iter().rposition(|&it| it == b'\n').map_or(0, |it| it + 1);
    let last = input[at..].iter().position(|&it| it == b'\n').map_or(input.len(), |it| at + it + 1);
    first..last
}

fn words() -> Vec<Vec<u8>> {
    let quoted = DICTIONARY.lines().filter_map(|it| it.strip_prefix('"')?.strip_suffix('"'));
    quoted.map(unescaped).collect()
}

/// A word of the dictionary, where `\x0a` is a byte, and `\"` and `\\` are what they escape.
fn unescaped(word: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word;
    while let Some(sign) = rest.chars().next() {
        rest = &rest[sign.len_utf8()..];
        let number = rest.strip_prefix('x').and_then(|it| it.get(..2));
        match number.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| sign == '\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None if sign == '\\' => {
                let escaped = rest.chars().next().unwrap_or(sign);
                rest = rest.strip_prefix(escaped).unwrap_or_default();
                bytes.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes());
            }
            None => bytes.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}
