//! WGSL to SPIR-V whose arithmetic no driver may fuse or reorder.

use naga::back::spv;
use naga::front::wgsl;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// Words of SPIR-V in front of the first instruction.
const HEADER: usize = 5;
/// `OpDecorate`, as a word: three words of this operation.
const DECORATE: u32 = 3 << 16 | 71;
const NO_CONTRACTION: u32 = 42;

/// Translates a text. Its entry points keep their names.
///
/// # Errors
///
/// The fault in the text, in naga's words. It is a fault of ours.
pub(super) fn translate(text: &str, is_decorated: bool) -> Result<Vec<u32>, String> {
    let (module, info) = checked(text)?;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        // A call is checked before it gets here, and so is every index that is found at run time.
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    let words = spv::write_vec(&module, &info, &options, None).map_err(|why| why.to_string())?;
    Ok(if is_decorated { decorated(&words) } else { words })
}

/// The module of a text, once it is known to be valid.
pub(super) fn checked(text: &str) -> Result<(naga::Module, ModuleInfo), String> {
    let module = wgsl::parse_str(text).map_err(|why| why.emit_to_string(text))?;
    let may = Capabilities::FLOAT64 | Capabilities::SHADER_INT64 | Capabilities::IMMEDIATES;
    let mut validator = Validator::new(ValidationFlags::all(), may);
    let info = validator.validate(&module).map_err(|why| why.emit_to_string(text))?;
    Ok((module, info))
}

/// The module with `NoContraction` at each sum, difference, product and quotient of floats.
///
/// Without it a driver may fuse a product with a sum, and Mesa takes `(x + c) - c` for `x`.
fn decorated(words: &[u32]) -> Vec<u32> {
    let mut results = Vec::new();
    let mut place = None;
    each_instruction(words, |at, operation, instruction| {
        match operation {
            // OpFAdd, OpFSub, OpFMul, OpFDiv: after the operation stand type and result.
            129 | 131 | 133 | 136 => results.extend(instruction.get(2)),
            // Annotations, or the first type behind where they would stand.
            19..=39 | 71..=75 => place = place.or(Some(at)),
            _ => {}
        }
    });
    let place = place.unwrap_or(words.len());
    let mut all = Vec::with_capacity(words.len() + 3 * results.len());
    all.extend_from_slice(&words[..place]);
    for result in results {
        all.extend([DECORATE, result, NO_CONTRACTION]);
    }
    all.extend_from_slice(&words[place..]);
    all
}

fn each_instruction(words: &[u32], mut each: impl FnMut(usize, u32, &[u32])) {
    let mut at = HEADER;
    while let Some(&head) = words.get(at) {
        let length = usize::try_from(head >> 16).unwrap_or(0).max(1);
        let Some(instruction) = words.get(at..at + length) else { return };
        each(at, head & 0xffff, instruction);
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
@group(0) @binding(0) var<storage, read_write> all: array<f64>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  all[id.x] = (all[id.x] + 3.0lf) * 2.0lf - all[id.x] / 7.0lf;
}
";

    #[test]
    fn each_operation_on_floats_is_decorated_in_front_of_types() {
        let words = translate(TEXT, true).unwrap();
        let plain = translate(TEXT, false).unwrap();
        assert_eq!(words.len(), plain.len() + 4 * 3);
        let (mut n_decorated, mut has_type) = (0, false);
        each_instruction(&words, |_, operation, instruction| {
            has_type |= (19..=39).contains(&operation);
            if operation == 71 && instruction.get(2) == Some(&NO_CONTRACTION) {
                n_decorated += 1;
                assert!(!has_type);
            }
        });
        assert_eq!(n_decorated, 4);
    }

    #[test]
    fn what_is_wrong_with_a_text_is_told() {
        let why = translate("fn main() { let x: f32 = 1i; }", true).unwrap_err();
        assert!(why.contains("let x"), "{why}");
    }
}
