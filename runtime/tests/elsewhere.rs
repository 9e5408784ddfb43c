//! A device of its own memory, whose work goes on while the program does: a thread, so that it can be held up.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::run::NoControl;
use isobar_compiler::config::Config;
use isobar_compiler::debug;
use isobar_compiler::pipeline::ProgramKind;
use isobar_compiler::pipeline::plan::Reference;
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;
use isobar_runtime::device::{Device, DeviceMemory, Ticket};
use isobar_runtime::events::Sink;
use isobar_runtime::executable::{OwnedSetting, Refusal};
use isobar_runtime::executors::{Caller, Code, Executor, Failure, Prepared, Progress, Setting};
use isobar_runtime::plans::PlanHandle;
use isobar_runtime::{Arguments, Buffer, Executable};

type Bytes = Arc<Mutex<Vec<u8>>>;

fn held<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// By address: what a program has there already.
#[derive(Debug, Default)]
struct RemoteDevice(BTreeMap<u64, Bytes>);

impl Device for RemoteDevice {
    fn name(&self) -> &str {
        "elsewhere:0"
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn DeviceMemory>, Failure> {
        Ok(Box::new(RemoteMemory(Arc::new(Mutex::new(vec![0; bytes])))))
    }

    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    unsafe fn lend(&self, start: u64, bytes: usize) -> Result<Box<dyn DeviceMemory>, Failure> {
        let known = self.0.get(&start).filter(|it| held(it).len() == bytes);
        Ok(Box::new(RemoteMemory(Arc::clone(known.ok_or(Failure::OutOfMemory)?))))
    }
}

#[derive(Debug)]
struct RemoteMemory(Bytes);

impl DeviceMemory for RemoteMemory {
    fn bytes(&self) -> usize {
        held(&self.0).len()
    }

    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), Failure> {
        let mut all = held(&self.0);
        all.get_mut(at..at + from.len()).ok_or(Failure::OutOfMemory)?.copy_from_slice(from);
        Ok(())
    }

    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), Failure> {
        let all = held(&self.0);
        to.copy_from_slice(all.get(at..at + to.len()).ok_or(Failure::OutOfMemory)?);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Runs the interpreter on a thread for each call, which waits until it may begin.
#[derive(Debug)]
struct RemoteExecutor {
    device: Arc<dyn Device>,
    may_begin: Arc<Mutex<Receiver<()>>>,
}

struct Interpreter {
    program: Arc<Reference>,
    may_begin: Arc<Mutex<Receiver<()>>>,
}

impl Executor for RemoteExecutor {
    fn device(&self) -> Option<Arc<dyn Device>> {
        Some(Arc::clone(&self.device))
    }

    fn program(&self, _: Setting<'_>) -> ProgramKind {
        ProgramKind::Reference
    }

    fn workspace_bytes(&self, _: &PlanHandle, _: Domain, _: u32, _: &[Argument]) -> Option<u64> {
        Some(0)
    }

    fn prepare(&self, plan: &PlanHandle, _: Setting<'_>, _: Sink<'_>) -> Result<Prepared, Failure> {
        let (program, may_begin) = (plan.reference()?, Arc::clone(&self.may_begin));
        Ok(Prepared::of(Arc::new(Interpreter { program, may_begin })))
    }
}

impl Code for Interpreter {
    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        Box::new(InterpreterCaller(self))
    }
}

struct InterpreterCaller(Arc<Interpreter>);

impl Caller for InterpreterCaller {
    fn run(&mut self, _: &mut Launch) -> Result<(), Failure> {
        Err(Failure::Machine("its fields are elsewhere".to_owned()))
    }

    fn start(
        &mut self,
        launch: &mut Launch,
        memories: &[Option<&dyn DeviceMemory>],
    ) -> Result<Box<dyn Ticket>, Failure> {
        let far = |it: &Option<&dyn DeviceMemory>| {
            it.and_then(|it| it.as_any().downcast_ref::<RemoteMemory>()).map(|it| Arc::clone(&it.0))
        };
        let fields: Vec<Option<Bytes>> = memories.iter().map(far).collect();
        let (mut launch, made) = (launch.clone(), Arc::clone(&self.0));
        let thread = std::thread::spawn(move || {
            held(&made.may_begin).recv().expect("somebody lets it begin");
            for (argument, bytes) in launch.arguments.iter_mut().zip(&fields) {
                if let (Argument::Field(field), Some(bytes)) = (argument, bytes) {
                    field.array.elements = Elements::from_le_bytes(field.array.dtype(), &held(bytes));
                }
            }
            let Reference { stencil, extents } = &*made.program;
            debug::run(stencil, extents, &mut launch, &mut NoControl).expect("it runs");
            for (argument, bytes) in launch.arguments.iter().zip(&fields) {
                if let (Argument::Field(field), Some(bytes)) = (argument, bytes) {
                    *held(bytes) = field.array.elements.to_le_bytes();
                }
            }
        });
        Ok(Box::new(ThreadTicket(thread)))
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::default()
    }
}

struct ThreadTicket(std::thread::JoinHandle<()>);

impl Ticket for ThreadTicket {
    fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    fn wait(self: Box<Self>) -> Result<(), Failure> {
        self.0.join().map_err(|_| Failure::Machine("the device fell over".to_owned()))
    }
}

fn stencil(executor: RemoteExecutor) -> Executable {
    let text = "
from gt4py.cartesian.gtscript import *

def add(q: Field[float], o: Field[float], by: float):
    with computation(PARALLEL), interval(...):
        o = q + by
";
    let (project, setting) = (Project::of_one("main.py", text), OwnedSetting::embedded(1));
    let made = Executable::new(&project, Config::default(), Arc::new(executor), setting, &|_| ());
    made.unwrap_or_else(|why| panic!("{why:?}"))
}

fn device() -> (RemoteExecutor, Arc<dyn Device>, Sender<()>) {
    device_with(RemoteDevice::default())
}

fn device_with(device: RemoteDevice) -> (RemoteExecutor, Arc<dyn Device>, Sender<()>) {
    let (begin, may_begin) = channel();
    let device: Arc<dyn Device> = Arc::new(device);
    let executor = RemoteExecutor { device: Arc::clone(&device), may_begin: Arc::new(Mutex::new(may_begin)) };
    (executor, device, begin)
}

fn arguments(q: Buffer, o: Buffer) -> Arguments {
    let fields = BTreeMap::from([("q".to_owned(), q), ("o".to_owned(), o)]);
    let by = isobar_compiler::call::launch::ScalarInput::Float(0.5);
    Arguments { fields, scalars: BTreeMap::from([("by".to_owned(), by)]), domain: None }
}

#[test]
fn the_program_goes_on_while_a_device_works() {
    let (executor, device, begin) = device();
    let stencil = stencil(executor);
    let shape = [4, 3, 2];
    let mut q = Buffer::zeros_on(&device, DType::Float64, &shape).unwrap();
    let o = Buffer::zeros_on(&device, DType::Float64, &shape).unwrap();
    let values: Vec<u8> = (0_u8..24).flat_map(|it| f64::from(it).to_le_bytes()).collect();
    q.memory().unwrap().write(0, &values).unwrap();
    let bound = stencil.bind(arguments(q, o)).unwrap();
    let pending = stencil.submit(bound);
    assert!(!pending.is_over());
    begin.send(()).unwrap();
    let (bound, ended) = pending.wait();
    ended.unwrap();
    let mut fields = bound.unwrap().into_fields();
    let o = fields.get_mut("o").unwrap();
    assert_eq!((o.device().unwrap().name(), o.shape()), ("elsewhere:0", &shape[..]));
    let mut found = vec![0; 24 * 8];
    o.memory().unwrap().read(0, &mut found).unwrap();
    let expected: Vec<u8> = (0_u8..24).flat_map(|it| (f64::from(it) + 0.5).to_le_bytes()).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_call_that_nobody_waits_for_is_waited_for() {
    let (executor, device, begin) = device();
    let stencil = stencil(executor);
    let field = || Buffer::zeros_on(&device, DType::Float64, &[4, 3, 2]).unwrap();
    let pending = stencil.submit(stencil.bind(arguments(field(), field())).unwrap());
    begin.send(()).unwrap();
    drop(pending);
    // It took what lets it begin.
    begin.send(()).unwrap();
    stencil.run(&mut stencil.bind(arguments(field(), field())).unwrap()).unwrap();
}

#[test]
fn nothing_is_copied_to_a_device_behind_its_owners_back() {
    let (executor, device, _begin) = device();
    let stencil = stencil(executor);
    let here = Buffer::host(Array::zeros(DType::Float64, &[4, 3, 2]));
    let there = Buffer::zeros_on(&device, DType::Float64, &[4, 3, 2]).unwrap();
    let refused = stencil.bind(arguments(here, there)).unwrap_err();
    let Refusal::Elsewhere { field, is_on, runs_on } = refused else { panic!("{refused:?}") };
    assert_eq!((&*field, &*is_on, &*runs_on), ("q", "the host", "elsewhere:0"));
}

/// 24 numbers from 0 on.
fn block() -> Bytes {
    Arc::new(Mutex::new((0_u8..24).flat_map(|it| f64::from(it).to_le_bytes()).collect()))
}

fn numbers(bytes: &Bytes) -> Vec<f64> {
    held(bytes).as_chunks::<8>().0.iter().map(|it| f64::from_le_bytes(*it)).collect()
}

#[expect(unsafe_code, reason = "the memory is the test's")]
fn lent(device: &Arc<dyn Device>, first: u64, strides: [i64; 3]) -> Buffer {
    // SAFETY: the device has blocks of 24 numbers, and each view of a test lies within one.
    let lent = unsafe { Buffer::lent_on(device, DType::Float64, first, &[4, 3, 2], &strides) };
    lent.expect("the device knows it")
}

#[test]
fn memory_of_others_is_written_where_it_is_whatever_its_strides() {
    let (from, to) = (block(), block());
    let known = BTreeMap::from([(0x1000, Arc::clone(&from)), (0x2000, Arc::clone(&to))]);
    let (executor, device, begin) = device_with(RemoteDevice(known));
    let stencil = stencil(executor);
    // Backwards along I, and K nearest.
    let q = lent(&device, 0x1000 + 18 * 8, [-6, 2, 1]);
    let o = lent(&device, 0x2000, [1, 4, 12]);
    begin.send(()).unwrap();
    stencil.run(&mut stencil.bind(arguments(q, o)).unwrap()).unwrap();
    let meant = |at: usize| {
        let (i, j, k) = (at % 4, at / 4 % 3, at / 12);
        f64::from(u8::try_from(18 - 6 * i + 2 * j + k).unwrap()) + 0.5
    };
    assert_eq!(numbers(&to), (0..24).map(meant).collect::<Vec<f64>>());
    // It is still there.
    assert_eq!((Arc::strong_count(&from), numbers(&from)[23]), (2, 23.0));
}

#[test]
fn memory_of_others_that_overlaps_is_one_field_or_refused() {
    let whole = block();
    let (executor, device, begin) =
        device_with(RemoteDevice(BTreeMap::from([(0x1000, Arc::clone(&whole)), (0x1008, block())])));
    let stencil = stencil(executor);
    let field = |at| lent(&device, at, [1, 4, 12]);
    begin.send(()).unwrap();
    stencil.run(&mut stencil.bind(arguments(field(0x1000), field(0x1000))).unwrap()).unwrap();
    assert_eq!(numbers(&whole)[..3], [0.5, 1.5, 2.5]);
    let refused = stencil.bind(arguments(field(0x1000), field(0x1008))).unwrap_err();
    let Refusal::Diagnostics(told) = refused else { panic!("{refused:?}") };
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].code.0, "C08");
}
