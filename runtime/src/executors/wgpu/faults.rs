//! Provoked errors of a device. Each has to give a sentence with a remedy, and the next run of the same
//! stencil has to give its results. Lesser devices are imitated: features and limits are taken away from the
//! one at hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, Call, Launch};
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{Compilation, NoHook, ProgramKind, route};
use isobar_compiler::project::Project;
use isobar_compiler::types::DType;
use isobar_testing::{skip, skip_part};
use wgpu::{Features, Limits};

use super::device::{Devices, Gpu};
use super::error::WgpuError;
use super::prepared;
use crate::executors::{Failure, Prepared, Setting};
use crate::plans::{PlanHandle, Plans};

/// Devices of a test alone, or nothing where there is no GPU, which is said aloud.
fn devices(less: fn(&mut Features, &mut Limits)) -> Option<Arc<Devices>> {
    let devices = Devices::new(move || Gpu::open(less));
    match devices.find() {
        Ok(_) => Some(Arc::new(devices)),
        Err(WgpuError::NoGpu) => {
            skip("a test of the GPU", "there is none");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

fn compiled(body: &str) -> Compilation {
    let text = format!(
        "from gt4py.cartesian.gtscript import *\n\ndef f(q: Field[float], o: Field[float]):\n    with \
         computation(PARALLEL), interval(...):\n{body}\n"
    );
    let compilation = route::compile(&Project::of_one("main.py", &text), &Config::default(), &mut NoHook);
    assert!(!compilation.has_errors(), "{:?}", compilation.notes.diagnostics);
    compilation
}

const TWICE: &str = "        o = q * 2.0";

/// A run of at least a second: a million iterations at each point, and then a trap.
const LONG: &str = "        o = q\n        while o > 0.0:\n            o = o + q * 0.5";

/// A call on fields of ones.
fn call(compilation: &Compilation, shape: [usize; 3]) -> Launch {
    let ones = || {
        let mut array = Array::zeros(DType::Float64, &shape);
        if let Elements::Float64(it) = &mut array.elements {
            it.iter_mut().for_each(|it| *it = 1.0);
        }
        array
    };
    let fields = BTreeMap::from([("q".to_owned(), ones()), ("o".to_owned(), ones())]);
    compilation.front.bind(Call { fields, ..Call::default() }).unwrap()
}

fn kernels_of(compilation: &Compilation) -> PlanHandle {
    Plans::of(compilation.clone()).plan_for(ProgramKind::Kernels)
}

fn made(devices: &Arc<Devices>, compilation: &Compilation) -> Prepared {
    prepared(Arc::clone(devices), &kernels_of(compilation), Setting::embedded()).unwrap()
}

/// Runs [`TWICE`], and checks its results.
fn runs(prepared: &mut Prepared, compilation: &Compilation, shape: [usize; 3]) {
    let mut launch = call(compilation, shape);
    prepared.run(&mut launch).unwrap();
    let Argument::Field(field) = &launch.arguments[1] else { panic!("it is a field") };
    let Elements::Float64(it) = &field.array.elements else { panic!("it has doubles") };
    assert!(it.iter().all(|it| it.to_bits() == 2.0_f64.to_bits()));
}

fn said(ended: Result<(), Failure>) -> String {
    match ended {
        Err(Failure::Machine(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_device_that_is_lost_is_opened_again() {
    let Some(devices) = devices(|_, _| ()) else { return };
    let compilation = compiled(TWICE);
    let mut prepared = made(&devices, &compilation);
    runs(&mut prepared, &compilation, [4, 3, 2]);
    // Between two runs of one caller, which keeps fields there.
    let mut launch = call(&compilation, [4, 3, 2]);
    prepared.keep(&launch).unwrap();
    let before = devices.find().unwrap();
    before.device.destroy();
    let why = said(prepared.run(&mut launch));
    assert!(why.contains("lost"), "{why}");
    runs(&mut prepared, &compilation, [4, 3, 2]);
    assert_ne!(devices.find().unwrap().number, before.number);
    // Memory of a lost device reports that it is of no use.
    let device = super::memory::WgpuDevice(Arc::clone(&devices));
    let mut memory = crate::device::Device::allocate(&device, 64).unwrap();
    devices.find().unwrap().device.destroy();
    said(memory.write(0, &[1; 64]).and_then(|()| memory.read(0, &mut [0; 64])));
    runs(&mut prepared, &compilation, [4, 3, 2]);
}

#[test]
fn a_device_that_is_lost_while_it_computes_ends_the_run() {
    let Some(devices) = devices(|_, _| ()) else { return };
    let (long, short) = (compiled(LONG), compiled(TWICE));
    let mut prepared = made(&devices, &long);
    let mut launch = call(&long, [64, 16, 1]);
    prepared.fit(&launch, &|_| ()).unwrap();
    let gpu = devices.find().unwrap();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            gpu.device.destroy();
        });
        prepared.run(&mut launch)
    });
    let why = said(ended);
    assert!(why.contains("was lost") && why.contains("what runs next opens it again"), "{why}");
    runs(&mut made(&devices, &short), &short, [4, 3, 2]);
}

#[test]
fn a_run_that_does_not_end_is_given_up() {
    let n_opened = AtomicUsize::new(0);
    // The first device gives up soon.
    let devices = Devices::new(move || {
        let mut gpu = Gpu::open(|_, _| ())?;
        if n_opened.fetch_add(1, Ordering::Relaxed) == 0 {
            gpu.patience = Duration::from_millis(30);
        }
        Ok(gpu)
    });
    if matches!(devices.find(), Err(WgpuError::NoGpu)) {
        skip("a test of the GPU", "there is none");
        return;
    }
    let devices = Arc::new(devices);
    let (long, short) = (compiled(LONG), compiled(TWICE));
    let why = said(made(&devices, &long).run(&mut call(&long, [64, 16, 1])));
    assert!(why.contains("did not end a call within 0.03 s") && why.contains("choose"), "{why}");
    runs(&mut made(&devices, &short), &short, [4, 3, 2]);
}

#[test]
fn a_trap_ends_the_run_and_not_the_device() {
    let Some(devices) = devices(|_, _| ()) else { return };
    let (long, short) = (compiled(LONG), compiled(TWICE));
    let mut prepared = made(&devices, &long);
    for _ in 0..2 {
        let ended = prepared.run(&mut call(&long, [2, 2, 1]));
        assert!(matches!(ended, Err(Failure::Trap { cell: [0, 0, 0], .. })), "{ended:?}");
    }
    runs(&mut made(&devices, &short), &short, [4, 3, 2]);
}

#[test]
fn what_has_no_memory_is_told_as_that() {
    let Some(devices) = devices(|_, limits| limits.max_buffer_size = 64 << 10) else { return };
    let compilation = compiled(TWICE);
    let mut prepared = made(&devices, &compilation);
    let ended = prepared.run(&mut call(&compilation, [64, 64, 4]));
    assert!(matches!(ended, Err(Failure::OutOfMemory)), "{ended:?}");
    runs(&mut prepared, &compilation, [8, 8, 4]);
}

#[test]
fn a_driver_that_has_no_memory_left_is_believed() {
    let Some(devices) = devices(|_, _| ()) else { return };
    let compilation = compiled(TWICE);
    let mut prepared = made(&devices, &compilation);
    let gpu = devices.find().unwrap();
    // Nothing is written to them, so that the driver only promises memory.
    let mut held = Vec::new();
    let refused = (0..4096).find_map(|_| match gpu.storage(gpu.limits.max_buffer_size) {
        Ok(it) => {
            held.push(it);
            None
        }
        Err(why) => Some(why),
    });
    match refused {
        Some(why) => assert_eq!(why, WgpuError::OutOfMemory),
        None => skip_part("the driver's own refusal", "this driver promises any memory"),
    }
    drop(held);
    runs(&mut prepared, &compilation, [8, 8, 4]);
}

#[test]
fn a_field_beyond_what_is_bound_is_refused_with_both_numbers() {
    let Some(devices) = devices(|_, limits| limits.max_storage_buffer_binding_size = 32_768) else { return };
    let compilation = compiled(TWICE);
    let mut prepared = made(&devices, &compilation);
    let why = said(prepared.run(&mut call(&compilation, [32, 32, 8])));
    assert!(why.contains("takes 65536 bytes") && why.contains("32768 bytes of a buffer"), "{why}");
    assert!(why.contains("choose a smaller domain"), "{why}");
    runs(&mut prepared, &compilation, [8, 8, 8]);
}

#[test]
fn what_a_device_has_too_few_of_is_named() {
    let few = |_: &mut Features, limits: &mut Limits| limits.max_storage_buffers_per_shader_stage = 2;
    let Some(devices) = devices(few) else { return };
    let compilation = compiled(TWICE);
    let why = said(made(&devices, &compilation).run(&mut call(&compilation, [4, 4, 4])));
    assert!(why.contains("lets a kernel use 2 buffers; split the stencil"), "{why}");
    let few = |_: &mut Features, limits: &mut Limits| {
        limits.max_compute_invocations_per_workgroup = 64;
        limits.max_compute_workgroup_size_x = 64;
    };
    let Some(devices) = self::devices(few) else { return };
    let why = said(made(&devices, &compilation).run(&mut call(&compilation, [70, 8, 8])));
    assert!(why.contains("threads in a block") && why.contains("choose smaller tiles"), "{why}");
}

// Doubles of a device without them are pairs of words, and texts of one that takes no SPIR-V are WGSL.
#[test]
fn a_device_without_doubles_computes_with_them() {
    let without: [fn(&mut Features, &mut Limits); 2] = [
        |features, _| features.remove(Features::SHADER_F64 | Features::SHADER_INT64),
        |features, _| {
            features.remove(Features::SHADER_F64 | Features::SHADER_INT64 | Features::PASSTHROUGH_SHADERS);
        },
    ];
    for less in without {
        let Some(devices) = devices(less) else { return };
        let compilation = compiled(TWICE);
        runs(&mut made(&devices, &compilation), &compilation, [9, 5, 3]);
    }
}

#[test]
fn a_text_has_its_pipelines_made_once() {
    let Some(devices) = devices(|_, _| ()) else { return };
    let (one, other) = (compiled(TWICE), compiled("        o = q * 3.0"));
    let program = |compilation: &Compilation| {
        let made = super::code(Arc::clone(&devices), &kernels_of(compilation), Setting::embedded()).unwrap();
        let kept = made.text_for(&call(compilation, [4, 4, 4]), &|_| ()).unwrap();
        Arc::clone(&kept.get().unwrap().program)
    };
    let first = program(&one);
    assert!(!Arc::ptr_eq(&first, &program(&other)));
    // Another compilation that has the same text.
    assert!(Arc::ptr_eq(&first, &program(&compiled(TWICE))));
}
