//! The command line on a machine that lacks the parts for GPUs: it says what to do, and all other parts work.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the command as on a machine without drivers of Vulkan and without NVRTC. A driver of NVIDIA, where
/// there is one, shows no GPUs.
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

/// The remedies that each back end names.
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
