//! What a machine lacks for GPUs, as the command line tells it: a sentence with what to do, and nothing else breaks.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A machine without drivers of Vulkan and without NVRTC; where there is a driver of NVIDIA, without GPUs.
fn bare(arguments: &[&str]) -> Output {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(arguments)
        .env("XDG_CACHE_HOME", cache)
        .envs([("VK_DRIVER_FILES", "/nowhere.json"), ("VK_ICD_FILENAMES", "/nowhere.json")])
        .envs([("ISOBAR_NVRTC", "/nowhere"), ("CUDA_VISIBLE_DEVICES", "")])
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|why| panic!("{why}"))
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// What there is to do about it.
const REMEDIES: [(&str, &[&str]); 2] = [
    ("wgpu", &["no GPU answers through Vulkan: install the driver of the card, or mesa-vulkan-drivers"]),
    ("cuda", &["of NVIDIA", "no NVRTC: ISOBAR_NVRTC names `/nowhere`"]),
];

#[test]
fn what_a_machine_lacks_is_listed_with_the_remedy() {
    let output = bare(&["backends", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let listed = document(&output);
    for (name, told) in REMEDIES {
        let backends = listed["backends"].as_array();
        let of = backends.and_then(|it| it.iter().find(|it| it["name"] == name));
        let of = of.unwrap_or_else(|| panic!("{name} is listed"));
        assert_eq!(of["available"], false, "{of}");
        let detail = of["detail"].as_str().unwrap_or_default();
        assert!(told.iter().all(|it| detail.contains(it)), "{detail}");
    }
}

#[test]
fn a_run_without_a_gpu_ends_with_the_remedy() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/gallery/copy_scale.py");
    let file = file.to_str().unwrap_or_default();
    for (name, told) in REMEDIES {
        for format in ["human", "json"] {
            let output = bare(&["run", file, "--backend", name, "--init", "--format", format]);
            // An answer, and no abort.
            assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
            let said = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(told[0]), "{name}: {said}");
            assert!(!said.contains("panicked"), "{name}: {said}");
        }
    }
    let output =
        bare(&["run", file, "--backend", "debug", "--init", "--domain", "4,4,4", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
