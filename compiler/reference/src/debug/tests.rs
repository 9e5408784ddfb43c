//! The meaning of the language, rule by rule, from GTIR text.

use itertools::Itertools;

use super::*;
use crate::call::array::Array;
use crate::call::launch::{Argument, FieldArgument};
use crate::diag::Diagnostics;
use crate::oir::analysis::extents::extents;
use crate::oir::nodes::ParamKind;
use crate::space::{AxisSet, Domain};
use isobar_front::gtir;

/// Points around the domain that every array of a test has, on each side of each axis.
const HALO: i64 = 3;

/// A finished run.
pub(super) struct Fields {
    stencil: Stencil,
    launch: Launch,
}

impl Fields {
    pub(super) fn at(&self, name: &str, cell: [i64; 3]) -> f64 {
        self.element(name, cell, &[])
    }

    /// One element of the data dimensions at a point.
    pub(super) fn element(&self, name: &str, cell: [i64; 3], data: &[usize]) -> f64 {
        let param = self.stencil.params.iter().position(|it| match it.what {
            ParamKind::Field(field) => self.stencil.fields[field].name == name,
            ParamKind::Scalar(_) => false,
        });
        let Argument::Field(field) = &self.launch.arguments[param.expect(name)] else { panic!("{name}") };
        let declared = self.stencil.fields.iter().find(|(_, it)| it.name == name).expect(name).1;
        let index = [index(cell, declared.axes), data.to_vec()].concat();
        field.array.get(&index).as_f64()
    }

    /// The column at the first point of the domain.
    pub(super) fn column(&self, name: &str) -> Vec<f64> {
        (0..self.launch.domain.k).map(|k| self.at(name, [0, 0, k])).collect()
    }

    /// The row at the first level.
    fn row(&self, name: &str) -> Vec<f64> {
        (0..self.launch.domain.i).map(|i| self.at(name, [i, 0, 0])).collect()
    }
}

fn index(cell: [i64; 3], axes: AxisSet) -> Vec<usize> {
    let moved = cell.map(|it| usize::try_from(it + HALO).expect("inside the halo"));
    axes.iter().map(|axis| moved[axis.index()]).collect()
}

/// Runs a stencil. Its fields start as `initial(name, cell)`, plus `100 * n` at element `n` of the data
/// dimensions. Its scalars are 2.
pub(super) fn run_on(
    text: &str,
    domain: Domain,
    initial: impl Fn(&str, [i64; 3]) -> f64,
) -> Result<Fields, Stop> {
    let typed = gtir::parse::parse(text).expect("the text is GTIR");
    let mut diagnostics = Diagnostics::default();
    let stencil = crate::oir::from_gtir::lower(&typed, &mut diagnostics).expect("the stencil is legal");
    run_oir(stencil, domain, initial)
}

/// Runs a stencil that is known to end.
pub(super) fn run_oir_ended(
    stencil: Stencil,
    domain: Domain,
    initial: impl Fn(&str, [i64; 3]) -> f64,
) -> Fields {
    run_oir(stencil, domain, initial).expect("the run ends well")
}

/// The bits of all arrays.
pub(super) fn all_fields(fields: &Fields) -> Vec<Vec<u8>> {
    let fields = fields.launch.arguments.iter().filter_map(|argument| match argument {
        Argument::Field(field) => Some(field.array.elements.to_le_bytes()),
        Argument::Scalar(_) | Argument::Unused => None,
    });
    fields.collect()
}

fn run_oir(
    stencil: Stencil,
    domain: Domain,
    initial: impl Fn(&str, [i64; 3]) -> f64,
) -> Result<Fields, Stop> {
    let size = |n: i64| usize::try_from(n + 2 * HALO).expect("small");
    let arguments = stencil.params.iter().map(|param| match param.what {
        ParamKind::Scalar(scalar) => {
            Argument::Scalar(Value::Float64(2.0).cast(stencil.scalars[scalar].dtype))
        }
        ParamKind::Field(field) => {
            let field = &stencil.fields[field];
            let axes = field.axes.iter().map(|axis| size(domain.along(axis)));
            let data_dims = field.data_dims.iter().map(|&it| usize::try_from(it).expect("small"));
            let shape: Vec<usize> = axes.chain(data_dims.clone()).collect();
            let elements: Vec<Vec<usize>> = data_dims.map(|it| 0..it).multi_cartesian_product().collect();
            let mut array = Array::zeros(field.dtype, &shape);
            let mut origin = [0; 3];
            field.axes.iter().for_each(|axis| origin[axis.index()] = HALO);
            for k in -HALO..domain.k + HALO {
                for j in -HALO..domain.j + HALO {
                    for i in -HALO..domain.i + HALO {
                        for (more, element) in (0_u32..).zip(&elements) {
                            let index = [index([i, j, k], field.axes), element.clone()].concat();
                            let value = initial(&field.name, [i, j, k]) + f64::from(100 * more);
                            array.elements.set(array.position(&index), Value::Float64(value));
                        }
                    }
                }
            }
            Argument::Field(FieldArgument { array, origin })
        }
    });
    let mut launch = Launch { domain, arguments: arguments.collect() };
    let extents = extents(&stencil);
    run(&stencil, &extents, &mut launch, &mut NoControl)?;
    Ok(Fields { stencil, launch })
}

fn small(text: &str) -> Fields {
    run_on(text, Domain::new(4, 3, 3), distinct).expect("the run ends well")
}

/// A number that tells the point.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn distinct(_: &str, [i, j, k]: [i64; 3]) -> f64 {
    (100 * k + 10 * j + i) as f64
}

#[track_caller]
fn assert_eq_all(found: Vec<f64>, expected: &[f64]) {
    assert_eq!(found, expected);
}

#[test]
fn a_parallel_statement_is_finished_everywhere_before_the_next() {
    let fields = small(
        "
stencil shift
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a + 1.0
  b = t[1,0,0] + t[0,-1,0]
",
    );
    assert_eq_all(fields.row("b"), &[-7.0, -5.0, -3.0, -1.0]);
}

#[test]
fn outputs_are_written_inside_the_domain_only() {
    let fields = small("stencil one\nfield b: float64[IJK]\nparallel [start, end)\n  b = 1.0\n");
    for (cell, expected) in
        [([0, 0, 0], 1.0), ([3, 2, 2], 1.0), ([-1, 0, 0], -1.0), ([4, 0, 0], 4.0), ([0, 0, 3], 300.0)]
    {
        assert_eq_all(vec![fields.at("b", cell)], &[expected]);
    }
}

#[test]
fn a_forward_sweep_sees_the_level_before_updated() {
    let text = "
stencil sum
field o: float64[IJK]
field a: float64[IJK]
forward [start+1, end)
  o = a[0,0,-1]
  a = a + 1.0
";
    let fields = small(text);
    assert_eq_all(fields.column("o"), &[0.0, 0.0, 101.0]);
    assert_eq_all(fields.column("a"), &[0.0, 101.0, 201.0]);
}

#[test]
fn a_forward_sweep_sees_the_level_after_unchanged() {
    let text = "
stencil ahead
field o: float64[IJK]
field a: float64[IJK]
forward [start, end-1)
  o = a[0,0,1]
  a = a + 1.0
";
    assert_eq_all(small(text).column("o"), &[100.0, 200.0, 200.0]);
}

#[test]
fn a_backward_sweep_runs_from_the_last_level_to_the_first() {
    let text = "
stencil integral
field o: float64[IJK]
field a: float64[IJK]
backward [end-1, end)
  o = a
backward [start, end-1)
  o = o[0,0,1] + a
";
    assert_eq_all(small(text).column("o"), &[300.0, 300.0, 200.0]);
}

#[test]
fn a_parallel_statement_reads_other_levels_of_its_target_from_before() {
    let text = "
stencil shift
field a: float64[IJK]
parallel [start+1, end)
  a = a[0,0,-1]
";
    assert_eq_all(small(text).column("a"), &[0.0, 0.0, 100.0]);
}

#[test]
fn a_condition_is_evaluated_before_its_branches() {
    let text = "
stencil branch
field a: float64[IJK]
field b: float64[IJK]
parallel [start, end)
  if a < 2.0
    a = 5.0
    b = 1.0
  elif a < 3.0
    b = 2.0
  else
    b = 3.0
";
    let fields = small(text);
    assert_eq_all(fields.row("b"), &[1.0, 1.0, 2.0, 3.0]);
    assert_eq_all(fields.row("a"), &[5.0, 5.0, 2.0, 3.0]);
}

#[test]
fn targets_keep_their_value_where_a_condition_is_false() {
    let text = "
stencil masked
field a: float64[IJK]
parallel [start, end)
  if a > 1.0
    a = -1.0
";
    assert_eq_all(small(text).row("a"), &[0.0, 1.0, -1.0, -1.0]);
}

#[test]
fn each_point_runs_its_own_number_of_iterations() {
    let text = "
stencil count
field a: float64[IJK]
field n: float64[IJK]
temporary c: int64[IJK]
parallel [start, end)
  c = 0
  n = 0.0
  while float64(c) < a
    c = c + 1
    n = n + 1.0
";
    assert_eq_all(small(text).row("n"), &[0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn a_loop_that_does_not_end_traps_with_its_place() {
    let text = "
stencil forever
field a: float64[IJK]
parallel [start, end)
  while a >= 3.0
    a = 4.0
";
    let Err(Stop::Trap(trap)) = run_on(text, Domain::new(4, 1, 1), distinct) else { panic!("it ended") };
    assert_eq!(trap.cell, [3, 0, 0]);
    assert_eq!(trap.origin.stmt.to_string(), "s0");
    assert_eq!(trap.message, "a `while` loop did not end within 1000000 iterations");
}

#[test]
fn regions_count_from_the_compute_domain() {
    let text = "
stencil edges
field b: float64[IJK]
parallel [start, end)
  b = 0.0
  region i[start, start+1) j[, )
    b = 1.0
  region i[end-1, end) j[start, start+1)
    b = 2.0
  region i[end, end+4) j[, )
    b = 3.0
";
    let fields = small(text);
    assert_eq_all(fields.row("b"), &[1.0, 0.0, 0.0, 2.0]);
    assert_eq_all(vec![fields.at("b", [3, 1, 0]), fields.at("b", [4, 0, 0])], &[0.0, 4.0]);
}

#[test]
fn regions_reach_into_the_halo_of_a_temporary() {
    let text = "
stencil halo
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a
  region i[start-1, start) j[, )
    t = 50.0
  b = t[-1,0,0] + t[1,0,0]
";
    assert_eq_all(small(text).row("b"), &[51.0, 2.0, 4.0, 6.0]);
}

#[test]
fn overlapping_regions_run_twice() {
    let text = "
stencil twice
field b: float64[IJK]
parallel [start, end)
  b = 1.0
  region i[start, start+2) j[, )
    b = b * 2.0
  region i[start+1, end) j[, )
    b = b * 3.0
";
    assert_eq_all(small(text).row("b"), &[2.0, 6.0, 3.0, 3.0]);
}

#[test]
fn a_region_longer_than_the_domain_is_clipped() {
    let text = "
stencil long
field b: float64[IJK]
parallel [start, end)
  region i[start-9, start+9) j[end-9, )
    b = -1.0
";
    let fields = small(text);
    assert_eq_all(fields.row("b"), &[-1.0; 4]);
    assert_eq_all(vec![fields.at("b", [-1, 0, 0]), fields.at("b", [4, 0, 0])], &[-1.0, 4.0]);
}

#[test]
fn temporaries_start_undefined() {
    let text = "
stencil undefined
field b: float64[IJK]
field n: float64[IJK]
temporary t: float64[IJK]
temporary m: int32[IJK]
parallel [start+1, end)
  t = 1.0
  m = int32(7)
parallel [start, end)
  b = t
  n = float64(m)
";
    let fields = small(text);
    assert!(fields.at("b", [0, 0, 0]).is_nan());
    assert_eq_all(vec![fields.at("n", [0, 0, 0])], &[f64::from(i32::MIN)]);
    assert_eq_all(vec![fields.at("b", [0, 0, 1]), fields.at("n", [0, 0, 1])], &[1.0, 7.0]);
}

#[test]
fn planes_and_columns_broadcast_and_accumulate() {
    let text = "
stencil total
field a: float64[IJK]
field w: float64[K]
field s: float64[IJ]
field o: float64[IJK]
scalar alpha: float64
forward [start, start+1)
  s = a * w
forward [start+1, end)
  s = s + a * (w[1] - w) * alpha
  o = s
";
    let fields = small(text);
    // At i = 1: w is 100 k there too, since columns start with the value at (0, 0, k) last written.
    let w = |k: f64| 100.0 * k + 10.0 * 5.0 + 6.0;
    assert_eq_all(vec![fields.at("w", [0, 0, 1])], &[w(1.0)]);
    let first = 0.0 * w(0.0);
    assert_eq_all(vec![fields.at("s", [0, 0, 0])], &[first + 100.0 * 200.0 + 200.0 * 200.0]);
    assert_eq_all(fields.column("o"), &[0.0, 20_000.0, 60_000.0]);
}

#[test]
fn the_position_counts_from_the_start_of_the_domain() {
    let text = "
stencil level
field b: float64[IJK]
parallel [start+1, end)
  b = float64(K)
";
    assert_eq_all(small(text).column("b"), &[0.0, 1.0, 2.0]);
}

#[test]
fn conversions_truncate_and_wrap() {
    let text = "
stencil convert
field a: float64[IJK]
field n: int8[IJK]
field b: bool[IJK]
parallel [start, end)
  n = int8(int64(a) + 299)
  b = bool(a - 1.0)
";
    let fields = small(text);
    assert_eq_all(fields.row("n"), &[43.0, 44.0, 45.0, 46.0]);
    assert_eq_all(fields.row("b"), &[1.0, 0.0, 1.0, 1.0]);
}

#[test]
fn an_empty_domain_does_nothing() {
    let text = "stencil none\nfield b: float64[IJK]\nparallel [start, end)\n  b = 1.0\n";
    let fields = run_on(text, Domain::new(0, 3, 3), distinct).expect("nothing to do");
    assert_eq_all(vec![fields.at("b", [0, 0, 0])], &[0.0]);
}

#[test]
fn a_level_that_does_not_exist_traps_with_its_place() {
    let text = "
stencil beyond
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = 1.0
parallel [start, start+1)
  b = t[0,0,4]
";
    let Err(Stop::Trap(trap)) = run_on(text, Domain::new(2, 2, 2), distinct) else { panic!("it ended") };
    assert_eq!((trap.cell, trap.message.as_str()), ([0, 0, 0], "`t[0,0,4]` does not exist"));
}

#[test]
fn a_run_can_be_cancelled() {
    struct After(u64);
    impl Control for After {
        fn progress(&mut self, done: u64, total: u64) -> bool {
            assert!(done <= total);
            done < self.0
        }
    }
    let text = "stencil one\nfield b: float64[IJK]\nparallel [start, end)\n  b = 1.0\n";
    let Fields { stencil, mut launch } = run_on(text, Domain::new(4, 4, 4), |_, _| 0.0).expect("it runs");
    let extents = extents(&stencil);
    let result = run(&stencil, &extents, &mut launch, &mut After(30));
    assert_eq!(result, Err(Stop::Cancelled));
}
