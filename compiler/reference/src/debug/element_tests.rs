//! The meaning of levels that are found at run time, of writes to other levels, and of data dimensions.

use super::tests::run_on;
use crate::space::Domain;

const COLUMN: Domain = Domain { i: 1, j: 1, k: 4 };

fn level(_: &str, [_, _, k]: [i64; 3]) -> f64 {
    f64::from(i32::try_from(k).expect("small"))
}

const FIELDS: &str = "
stencil s
field a: float64[IJK]
field out: float64[IJK]
field n: int64[IJ]
field kf: float64[K]
scalar two: int64
temporary t: float64[IJK]
";

fn column(body: &str) -> Vec<f64> {
    let text = format!("{FIELDS}\n{body}");
    run_on(&text, COLUMN, |name, cell| if name == "n" { 1.0 } else { level(name, cell) })
        .expect("the run ends well")
        .column("out")
}

#[test]
fn a_level_may_be_so_many_above_the_point() {
    assert_eq!(column("parallel [start, end)\n  out = a.up(n)\n"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(column("parallel [start, end)\n  out = a.up(n - two)\n"), [-1.0, 0.0, 1.0, 2.0]);
    assert_eq!(column("forward [start, end)\n  out = kf.up(K)\n"), [0.0, 2.0, 4.0, 6.0]);
}

#[test]
fn a_level_may_be_counted_from_the_start_of_the_domain() {
    assert_eq!(column("parallel [start, end)\n  out = a.at(two)\n"), [2.0; 4]);
    assert_eq!(column("parallel [start, end)\n  out = kf.at(n) + a.at(-1)\n"), [0.0; 4]);
}

#[test]
fn levels_that_do_not_exist_end_the_run() {
    let of = |body: &str| {
        let text = format!("{FIELDS}\n{body}");
        run_on(&text, COLUMN, level).err().expect("the run ends early").to_string()
    };
    assert_eq!(
        of("parallel [start, end)\n  out = a.at(two * 50)\n"),
        "`a.at(100)` does not exist, in s0 at i=0, j=0, k=0"
    );
    assert_eq!(
        of("parallel [start, end)\n  t = a\nforward [start, end)\n  out = t.up(two)\n"),
        "`t.at(4)` does not exist, in s1 at i=0, j=0, k=2"
    );
    assert_eq!(
        of("forward [start, end)\n  out.up(K * 9) = a\n"),
        "`out.at(10)` does not exist, in s0 at i=0, j=0, k=1"
    );
}

#[test]
fn a_sweep_sees_what_it_wrote_on_levels_ahead() {
    // Each level reads what the one below put there, and passes on one more.
    let body = "forward [start, end-1)\n  out = out + 10.0\n  out.up(1) = out\n";
    assert_eq!(column(body), [10.0, 20.0, 30.0, 30.0]);
    let body = "backward [start+1, end)\n  out.up(-n) = out + 1.0\n";
    assert_eq!(column(body), [6.0, 5.0, 4.0, 3.0]);
}

#[test]
fn elements_of_data_dimensions_are_numbers_of_their_own() {
    let text = "
stencil s
field v: float64[IJK][2,3]
field w: float64[IJK][2,3]
field table: int64[][3]
field out: float64[IJK]
scalar two: int64

parallel [start, end)
  v.A[1, 0] = w[1,0,0].A[0, two] + 0.5
  out = v.A[two - 1, 0] + float64(table.A[two])
";
    let fields = run_on(text, COLUMN, |name, [i, _, k]| match name {
        "table" => 7.0,
        _ => level(name, [0, 0, k + 10 * i]),
    })
    .expect("the run ends well");
    // The element [0, 2] of the neighbour holds 10 + 200.
    let elements = [[1, 0], [0, 0], [1, 2]].map(|it| fields.element("v", [0, 0, 1], &it));
    assert_eq!(elements.to_vec(), [211.5, 1.0, 501.0]);
    // The table's last element holds 7 + 200.
    assert_eq!(fields.column("out"), [417.5, 418.5, 419.5, 420.5]);
}

#[test]
fn data_indices_beyond_the_sizes_end_the_run() {
    let text = "
stencil s
field v: float64[IJK][2]
field out: float64[IJK]
scalar two: int64

parallel [start, end)
  out = v.A[two]
";
    let stop = run_on(text, COLUMN, level).err().expect("the run ends early");
    assert_eq!(stop.to_string(), "`v.A[2]` does not exist, in s0 at i=0, j=0, k=0");
}
