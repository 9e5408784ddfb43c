//! Deflate with a preset dictionary: packed text may refer to the dictionary as if it came before the text.
//!
//! No flag of the format announces the dictionary, so both sides have to know it. Therefore each version of
//! links has its own dictionary, which never changes.

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::decode::LinkError;

/// Smallest size for the time it takes: a link is made on a click.
const LEVEL: i32 = 10;

/// Packs `text`, which the `dictionary` stands before.
///
/// The compressor is fed both. A flush between them ends at a whole byte and keeps the window, so what comes after it
/// is a stream of its own.
#[must_use]
pub fn pack(text: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut compressor = CompressorOxide::new(create_comp_flags_from_zip_params(LEVEL, 0, 0));
    let mut packed = Vec::new();
    if !dictionary.is_empty() {
        feed(&mut compressor, dictionary, TDEFLFlush::Sync, &mut packed);
        packed.clear();
    }
    feed(&mut compressor, text, TDEFLFlush::Finish, &mut packed);
    packed
}

fn feed(compressor: &mut CompressorOxide, mut input: &[u8], flush: TDEFLFlush, packed: &mut Vec<u8>) {
    let mut buffer = [0; 4096];
    loop {
        let (status, n_read, n_written) = compress(compressor, input, &mut buffer, flush);
        packed.extend_from_slice(&buffer[..n_written]);
        input = &input[n_read..];
        let is_flushed = input.is_empty() && n_written < buffer.len();
        if status != TDEFLStatus::Okay || is_flushed {
            return;
        }
    }
}

/// Unpacks what was packed behind the `dictionary`, to at most `most` bytes.
///
/// # Errors
///
/// When it is no whole stream, or has more to give.
pub fn unpack(mut packed: &[u8], dictionary: &[u8], most: usize) -> Result<Vec<u8>, LinkError> {
    let most = dictionary.len() + most;
    let mut at = dictionary.len();
    let mut out = dictionary.to_vec();
    // A byte more than there may be, so that a text of exactly the limit ends before its room does.
    out.resize((at + 4 * packed.len()).min(most) + 1, 0);
    let mut inflater = Box::<DecompressorOxide>::default();
    loop {
        let (status, n_read, n_written) =
            decompress(&mut inflater, packed, &mut out, at, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF);
        packed = &packed[n_read..];
        at += n_written;
        match status {
            _ if at > most => return Err(LinkError::InflatesTooFar),
            TINFLStatus::Done => {
                out.truncate(at);
                return Ok(out.split_off(dictionary.len()));
            }
            TINFLStatus::HasMoreOutput if out.len() <= most => {
                out.resize((2 * out.len()).min(most + 1), 0);
            }
            TINFLStatus::HasMoreOutput => return Err(LinkError::InflatesTooFar),
            TINFLStatus::NeedsMoreInput
            | TINFLStatus::FailedCannotMakeProgress
            | TINFLStatus::BadParam
            | TINFLStatus::Adler32Mismatch
            | TINFLStatus::Failed => return Err(LinkError::NotDeflated),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_dictionary_makes_its_words_cheap() {
        let text = b"with computation(PARALLEL), interval(...):";
        let (with, without) = (pack(text, text), pack(text, b""));
        assert!(with.len() < 8 && without.len() > 30, "{} {}", with.len(), without.len());
        assert_eq!(unpack(&with, text, 100).unwrap(), text);
        assert_eq!(unpack(&without, b"", 100).unwrap(), text);
    }

    #[test]
    fn the_limit_is_exact() {
        let text = [7; 5000];
        let packed = pack(&text, b"dictionary");
        assert_eq!(unpack(&packed, b"dictionary", 5000).unwrap(), text);
        assert_eq!(unpack(&packed, b"dictionary", 4999), Err(LinkError::InflatesTooFar));
    }

    #[test]
    fn a_reference_to_before_the_dictionary_is_refused() {
        let text = b"with computation(PARALLEL), interval(...):";
        assert_eq!(unpack(&pack(text, text), b"", 100), Err(LinkError::NotDeflated));
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(text in proptest::collection::vec(any::<u8>(), 0..9000), words in "[a-f ]{0,4000}") {
            let packed = pack(&text, words.as_bytes());
            prop_assert_eq!(unpack(&packed, words.as_bytes(), text.len()).unwrap(), text);
        }
    }
}
