//! The pipelines of a text for the next process: the data of a pipeline cache of Vulkan, in the cache folder.
//!
//! An entry is for one text on one device under one driver. It is used where its hash is right, as a library or a CUBIN
//! is. wgpu and the driver find everything else that may be wrong with it, and begin anew then.

use std::path::{Path, PathBuf};

use isobar_compiler::pipeline::Plan;

use super::device::{Gpu, PipelineInputs};
use crate::cache::{CodeEntry, CodeKind, KeyParts, not_kept, private};
use crate::events::{Event, Sink};

/// The place of a stencil's pipelines in the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct PipelineStore {
    /// The cache folder, if pipelines are stored.
    root: Option<PathBuf>,
    stencil: String,
}

impl PipelineStore {
    pub(super) fn of(plan: &Plan, root: Option<&Path>) -> Self {
        Self { root: root.map(Into::into), stencil: plan.stencil.clone() }
    }

    /// The entry of a text; none where there is no folder, or the device has no such data.
    pub(super) fn place(&self, gpu: &Gpu, text: &PipelineInputs, sink: Sink<'_>) -> Option<PipelineEntry> {
        let (root, adapter) = (self.root.as_ref()?, gpu.cache_key.as_ref()?);
        let tell = |why: &String| sink(Event::Log { text: not_kept(why) });
        let folder = private(root, CodeKind::Pipelines.folder()).inspect_err(tell).ok()?;
        let parts = parts(gpu, adapter, text);
        let entry = CodeEntry::of(CodeKind::Pipelines, folder, parts.key());
        Some(PipelineEntry { entry, parts, stencil: self.stencil.clone() })
    }
}

/// All that decides the pipelines of a text on a GPU that its driver knows by the name of `adapter`.
pub(super) fn parts(gpu: &Gpu, adapter: &str, text: &PipelineInputs) -> KeyParts {
    let flags =
        format!("{:?} {:?} {} {}", text.entries, text.are_read, text.immediate_bytes, gpu.is_decorated());
    let parts = KeyParts::of(&text.text, flags, gpu.driver.clone());
    KeyParts { processor: format!("{adapter} {}", gpu.name), ..parts }
}

/// An entry of the cache, which may be empty.
#[derive(Debug)]
pub(super) struct PipelineEntry {
    entry: CodeEntry,
    parts: KeyParts,
    stencil: String,
}

impl PipelineEntry {
    /// The data of the entry, if it is whole.
    pub(super) fn data(&self) -> Option<Vec<u8>> {
        let data = self.entry.whole()?;
        self.entry.touch();
        Some(data)
    }

    /// Stores the data. A disk that refuses them only costs the next process its time.
    pub(super) fn keep(&self, data: &[u8]) {
        let _ = self.entry.keep(data, &self.stencil, &self.parts);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use isobar_testing::skip;

    use super::super::device::Devices;
    use super::*;

    const TEXT: &str = "@group(0) @binding(0) var<storage, read_write> all: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  all[id.x] += 1u;
}
";

    #[test]
    fn data_that_is_broken_or_of_nobody_is_a_miss() {
        let gpu = match Devices::here().find() {
            Ok(gpu) => gpu,
            Err(why) => return skip("a test of the GPU", why),
        };
        let home = tempfile::tempdir().unwrap();
        let pipelines = PipelineStore { root: Some(home.path().join("cache")), stencil: "f".to_owned() };
        let text = PipelineInputs {
            text: TEXT.to_owned(),
            entries: vec![("main".to_owned(), [64, 1, 1])],
            are_read: vec![false],
            immediate_bytes: 0,
        };
        let Some(place) = pipelines.place(&gpu, &text, &|_| ()) else {
            return skip("pipelines that are kept", format_args!("{} keeps none", gpu.name));
        };
        assert_eq!(place.data(), None);
        let first = gpu.made(&text, Some(&place)).unwrap();
        assert_eq!(first.pipelines.len(), 1);
        eprintln!("{} leaves {} bytes to keep", gpu.name, place.data().map_or(0, |it| it.len()));
        // With its hash, though nobody made it: wgpu and the driver look at it, and begin anew.
        let empty = gpu.pipeline_cache(None).unwrap().get_data().unwrap_or_default();
        let mut changed = empty.clone();
        changed.iter_mut().skip(16).for_each(|it| *it ^= 0x55);
        for data in [&b"nothing"[..], &empty, &empty[..empty.len() / 2], &changed, &[]] {
            place.keep(data);
            assert_eq!(place.data().as_deref(), Some(data));
            assert_eq!(gpu.made(&text, Some(&place)).unwrap().pipelines.len(), 1);
        }
        // Without: it is not even looked at.
        place.keep(&empty);
        fs::write(place.entry.library(), b"other").unwrap();
        assert_eq!(place.data(), None);
        assert_eq!(gpu.made(&text, Some(&place)).unwrap().pipelines.len(), 1);
        // Another driver, another device, another text: another entry.
        let other = PipelineInputs { text: TEXT.replace("1u", "2u"), ..text.clone() };
        let other = pipelines.place(&gpu, &other, &|_| ()).unwrap();
        assert_ne!(other.entry.library(), place.entry.library());
        assert!(PipelineStore::default().place(&gpu, &text, &|_| ()).is_none());
    }
}
