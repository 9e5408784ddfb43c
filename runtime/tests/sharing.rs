//! One array for several parameters, and arrays that overlap.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;

use isobar_compiler::config::Config;
use isobar_compiler::project::Project;
use isobar_compiler::types::DType;
use isobar_runtime::executable::{CheckedCall, OwnedSetting, Refusal};
use isobar_runtime::executors::Executor;
use isobar_runtime::executors::interpreters::{Debug, Numpy};
use isobar_runtime::executors::rayon::Rayon;
use isobar_runtime::{Arguments, Buffer, Executable};

fn executors() -> [Arc<dyn Executor>; 3] {
    [Arc::new(Debug), Arc::new(Numpy), Arc::new(Rayon)]
}

fn stencil(body: &str, executor: Arc<dyn Executor>) -> Executable {
    let text = format!("from gt4py.cartesian.gtscript import *\n\n{body}");
    let (project, setting) = (Project::of_one("main.py", &text), OwnedSetting::embedded(1));
    let made = Executable::new(&project, Config::default(), executor, setting, &|_| ());
    made.unwrap_or_else(|why| panic!("{why:?}"))
}

/// Fields in one array: for each the position of its first element, shape, strides and origin.
type View = (&'static str, usize, [usize; 3], [i64; 3], [i64; 3]);

fn bind(stencil: &Executable, array: &mut [f64], views: &[View]) -> Result<CheckedCall, Refusal> {
    let lend = |&(name, first, shape, strides, origin): &View| {
        let first = NonNull::from(&mut array[first]).cast();
        // SAFETY: the array outlives the call, and each view lies in it.
        #[expect(unsafe_code, reason = "the elements stay where they are")]
        let buffer = unsafe { Buffer::lent(DType::Float64, first, &shape, &strides) };
        (name.to_owned(), buffer.expect("it lies in the array").with_origin(&origin))
    };
    let fields = views.iter().map(lend).collect::<BTreeMap<_, _>>();
    stencil.bind(Arguments { fields, ..Arguments::default() })
}

/// A row of so many points.
fn row(name: &'static str, first: usize, n: usize, origin: i64) -> View {
    (name, first, [n, 1, 1], [1, 1, 1], [origin, 0, 0])
}

#[test]
fn one_array_is_one_field() {
    let body = "
def twice(q: Field[float], o: Field[float]):
    with computation(PARALLEL), interval(...):
        o = q + 1
        o = o + q
";
    for executor in executors() {
        let stencil = stencil(body, executor);
        let mut array: Vec<f64> = (0..100).map(f64::from).collect();
        let mut bound =
            bind(&stencil, &mut array, &[row("q", 0, 100, 0), row("o", 0, 100, 0)]).expect("one field");
        stencil.run(&mut bound).expect("it runs");
        assert_eq!(bound.into_fields().len(), 2);
        let expected: Vec<f64> = (0..100).map(|it| 2.0 * (f64::from(it) + 1.0)).collect();
        assert_eq!(array, expected, "{stencil:?}");
    }
}

#[test]
fn corners_are_copied_within_one_array() {
    // As FV3 fills corners: read and written in the same statement, at points that do not meet.
    let body = "
def corner(q: Field[float], o: Field[float], far: Field[float]):
    with computation(PARALLEL), interval(...):
        with horizontal(region[I[0], :]):
            o = q[3, 0, 0]
    with computation(PARALLEL), interval(...):
        far = q[-1, 0, 0] + o
";
    for executor in executors() {
        let stencil = stencil(body, executor);
        let mut array: Vec<f64> = (0..20).map(f64::from).collect();
        let views = [row("q", 0, 8, 1), row("o", 0, 8, 1), row("far", 10, 8, 1)];
        let mut bound = bind(&stencil, &mut array, &views).expect("one field");
        stencil.run(&mut bound).expect("it runs");
        assert_eq!(array[..8], [0.0, 4.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "{stencil:?}");
        assert_eq!(array[11..16], [4.0, 6.0, 5.0, 7.0, 9.0], "{stencil:?}");
    }
}

#[test]
fn what_overlaps_otherwise_is_refused_where_it_is_written() {
    let body = "
def copy(q: Field[float], o: Field[float]):
    with computation(PARALLEL), interval(...):
        o = q
";
    let stencil = stencil(body, Arc::new(Debug));
    let mut array = vec![0.0; 100];
    let mut refused = |views: &[View]| match bind(&stencil, &mut array, views) {
        Ok(_) => String::new(),
        Err(Refusal::Diagnostics(found)) => {
            found.iter().map(|it| format!("{}: {}", it.code, it.message)).collect::<Vec<_>>().join("; ")
        }
        Err(why) => panic!("{why:?}"),
    };
    let shared = "C08: fields `q` and `o` share elements, and `o` is written";
    assert_eq!(refused(&[row("q", 1, 50, 0), row("o", 0, 50, 0)]), shared);
    // Every other element, beginning at one and at the next.
    assert_eq!(
        refused(&[("q", 0, [25, 2, 1], [4, 2, 1], [0; 3]), ("o", 1, [25, 2, 1], [4, 2, 1], [0; 3])]),
        ""
    );
    assert!(
        !refused(&[("q", 0, [25, 2, 1], [4, 2, 1], [0; 3]), ("o", 2, [24, 2, 1], [4, 1, 1], [0; 3])])
            .is_empty()
    );
    // Backwards.
    assert!(!refused(&[row("q", 0, 50, 0), ("o", 49, [50, 1, 1], [-1, 1, 1], [0; 3])]).is_empty());
    // One element for all points may be read, and not written.
    assert_eq!(refused(&[("q", 0, [50, 1, 1], [0, 1, 1], [0; 3]), row("o", 50, 50, 0)]), "");
    let found = refused(&[("o", 0, [50, 1, 1], [0, 1, 1], [0; 3]), row("q", 50, 50, 0)]);
    assert!(found.starts_with("C08: field `o` is written"), "{found}");
}
