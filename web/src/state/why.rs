//! Why the worker has no result, in the reader's language.

use isobar_protocol::why::Why;
use isobar_protocol::worker::OnGpu;

use crate::bridge::locale::t;

/// The sentence, as [`Why`] itself says it in English.
#[must_use]
pub fn in_words(why: &Why) -> String {
    match why {
        Why::Said(said) => said.clone(),
        Why::HasErrors => t!("compile-has-errors").to_owned(),
        Why::Stopped => t!("compile-stopped").to_owned(),
        Why::TooLarge { needed, most } => t!("compile-too-large", needed = *needed, most = *most),
        Why::ScalarIsNoNumber => t!("compile-scalar-is-no-number").to_owned(),
        Why::ScalarUnusable => t!("compile-scalar-unusable").to_owned(),
        Why::NotCallable => t!("compile-not-callable").to_owned(),
        Why::Generator { field, text, said } => {
            t!("compile-generator", field = field, text = text, said = said)
        }
        Why::Trap { line, step: None, said } => t!("compile-trap", line = *line, said = in_words(said)),
        Why::Trap { line, step: Some(step), said } => {
            t!("compile-trap-in-step", line = *line, step = *step, said = in_words(said))
        }
        Why::IndexLeaves => t!("compile-index-leaves").to_owned(),
        Why::NoWebGpu => t!("compile-no-webgpu").to_owned(),
        Why::NoGpu => t!("compile-no-gpu").to_owned(),
        Why::GpuLacks(name) => t!("compile-gpu-lacks", name = name),
        Why::GpuRefused { name: None, said } => t!("compile-gpu-refused", said = said),
        Why::GpuRefused { name: Some(name), said } => {
            t!("compile-gpu-refused-name", name = name, said = said)
        }
        Why::GpuLost(said) => t!("compile-gpu-lost", said = said),
        Why::TooManyArrays { arrays, most } => {
            t!("compile-too-many-arrays", arrays = *arrays, most = *most)
        }
        Why::NoImmediates => t!("compile-no-immediates").to_owned(),
        Why::NotShown { field, said } => t!("compile-not-shown", field = field, said = said),
        Why::InOneOnly(field) => t!("compile-in-one-only", field = field),
        Why::NothingToCompare => t!("compile-nothing-to-compare").to_owned(),
        Why::PartMissing => t!("compile-part-missing").to_owned(),
    }
}

/// Where a run of this tab ran.
#[must_use]
pub fn machine(gpu: Option<&OnGpu>) -> String {
    let Some(OnGpu { is_fast, name }) = gpu else { return t!("state-run-machine-here").to_owned() };
    let how = if *is_fast { t!("compile-gpu-fast") } else { t!("compile-gpu-exact") };
    let name = name.as_deref().unwrap_or(t!("compile-gpu-nameless"));
    t!("state-run-machine-here-how", how = how, name = name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_said_as_the_protocol_says_it() {
        let said = || "said".to_owned();
        let all = [
            Why::Said(said()),
            Why::HasErrors,
            Why::Stopped,
            Why::TooLarge { needed: 4096, most: 1024 },
            Why::ScalarIsNoNumber,
            Why::ScalarUnusable,
            Why::NotCallable,
            Why::Generator { field: "q".to_owned(), text: "bell(".to_owned(), said: said() },
            Why::Trap { line: 1234, step: None, said: Box::new(Why::IndexLeaves) },
            Why::Trap { line: 7, step: Some(2000), said: Box::new(Why::Said(said())) },
            Why::IndexLeaves,
            Why::NoWebGpu,
            Why::NoGpu,
            Why::GpuLacks("mapAsync".to_owned()),
            Why::GpuRefused { name: None, said: said() },
            Why::GpuRefused { name: Some("submit".to_owned()), said: said() },
            Why::GpuLost(said()),
            Why::TooManyArrays { arrays: 9, most: 8 },
            Why::NoImmediates,
            Why::NotShown { field: "q".to_owned(), said: said() },
            Why::InOneOnly("q".to_owned()),
            Why::NothingToCompare,
            Why::PartMissing,
        ];
        for why in all {
            assert_eq!(in_words(&why), why.to_string());
            let json = serde_json::to_string(&why).unwrap();
            assert_eq!(serde_json::from_str::<Why>(&json).unwrap(), why, "{json}");
        }
        assert_eq!(
            machine(Some(&OnGpu { is_fast: true, name: None })),
            "this tab, fast: every f64 is an f32, and no bits are promised; a GPU without a name"
        );
    }
}
