//! Data dimensions, tables, levels that are found at run time, bounds that are.

use expect_test::expect;

use super::{check, refusals};

#[test]
fn elements_of_data_dimensions_are_read_and_written() {
    check(
        "
def s(v: Field[IJK, (float, (3,))], m: Field[(float, (2, 3))], tab: GlobalTable[(int, (4,))], n: int, out: FloatField):
    with computation(PARALLEL), interval(...):
        v[0, 0, 0][1] = m[-1, 0, 0][n, 2] + tab.A[n] * v.A[0]
        out = v[0, 0, 0][tab.A[0]]
",
        &expect![[r#"
            stencil s(v: float64[IJK][3], m: float64[IJK][2,3], tab: int64[][4], n: int64, out: float64[IJK])
              computation parallel [start, end)
                v.A[1] = m[-1,0,0].A[n, 2] + tab.A[n] * v.A[0]
                out = v.A[tab.A[0]]
        "#]],
    );
}

#[test]
fn whole_vectors_are_assigned_element_by_element() {
    check(
        "
def s(v: Field[IJK, (float, (2,))], w: Field[IJK, (float, (2,))], m: Field[(float, (2, 2))], a: FloatField):
    with computation(PARALLEL), interval(...):
        w = 2.0 * v[1, 0, 0] + a
        w += max(v, 0.0)
        w = m @ v
        m = m.T
",
        &expect![[r#"
            stencil s(v: float64[IJK][2], w: float64[IJK][2], m: float64[IJK][2,2], a: float64[IJK])
              temporary m_0_0_next: auto[IJK]
              temporary m_0_1_next: auto[IJK]
              temporary m_1_0_next: auto[IJK]
              temporary m_1_1_next: auto[IJK]
              computation parallel [start, end)
                w.A[0] = 2.0 * v[1,0,0].A[0] + a
                w.A[1] = 2.0 * v[1,0,0].A[1] + a
                w.A[0] = w.A[0] + max(v.A[0], 0.0)
                w.A[1] = w.A[1] + max(v.A[1], 0.0)
                w.A[0] = m.A[0, 0] * v.A[0] + m.A[0, 1] * v.A[1]
                w.A[1] = m.A[1, 0] * v.A[0] + m.A[1, 1] * v.A[1]
                m_0_0_next = m.A[0, 0]
                m_0_1_next = m.A[1, 0]
                m_1_0_next = m.A[0, 1]
                m_1_1_next = m.A[1, 1]
                m.A[0, 0] = m_0_0_next
                m.A[0, 1] = m_0_1_next
                m.A[1, 0] = m_1_0_next
                m.A[1, 1] = m_1_1_next
        "#]],
    );
}

#[test]
fn levels_are_found_at_run_time() {
    check(
        "
def s(a: FloatField, kf: FloatFieldK, lev: IntFieldIJ, out: FloatField, n: int):
    with computation(FORWARD), interval(1, -1):
        out = a[0, 0, lev] + a[0, 0, n - 1] + a.at(K=lev) + kf.at(K=n + 1) + kf[n]
        out[0, 0, 1] = a
        out[0, 0, n] = a[0, 0, -1]
",
        &expect![[r#"
            stencil s(a: float64[IJK], kf: float64[K], lev: int64[IJ], out: float64[IJK], n: int64)
              computation forward [start+1, end-1)
                out = a.up(lev) + a.up(n - 1) + a.at(lev) + kf.at(n + 1) + kf.up(n)
                out.up(1) = a
                out.up(n) = a[0,0,-1]
        "#]],
    );
}

#[test]
fn temporaries_with_data_dimensions_are_declared_first() {
    check(
        "
def s(a: FloatField, out: FloatField):
    t: Field[IJK, (float, (2,))] = 0.5
    u: Field[IJK, (float, (2,))]
    with computation(PARALLEL), interval(...):
        u = t
        t[0, 0, 0][1] = a
        out = t[0, 0, 0][1] + u[0, 0, 0][0]
",
        &expect![[r#"
            stencil s(a: float64[IJK], out: float64[IJK])
              temporary t: float64[IJK][2]
              temporary u: float64[IJK][2]
              computation parallel [start, end)
                t.A[0] = 0.5
                t.A[1] = 0.5
              computation parallel [start, end)
                u.A[0] = t.A[0]
                u.A[1] = t.A[1]
                t.A[1] = a
                out = t.A[1] + u.A[0]
        "#]],
    );
}

#[test]
fn intervals_have_bounds_of_run_time() {
    check(
        "
def s(a: FloatField, out: FloatField, top: IntFieldIJ, n: int):
    with computation(FORWARD):
        with interval(0, 1):
            first: IntFieldIJ = 2
        with interval(0, n):
            out = a
        with interval(n, top[0, 0]):
            out = a[0, 0, -1]
        with interval(first, -1):
            out = out + a
",
        &expect![[r#"
            stencil s(a: float64[IJK], out: float64[IJK], top: int64[IJ], n: int64)
              temporary first: int64[IJ]
              computation forward [start, start+1)
                first = 2
              computation forward [start, end) to n
                out = a
              computation forward [start, end) from n to top
                out = a[0,0,-1]
              computation forward [start, end-1) from first
                out = out + a
        "#]],
    );
}

#[test]
fn indices_that_mean_no_element_are_refused() {
    check(
        "
def s(v: Field[IJK, (float, (3,))], tab: GlobalTable[(float, (4, 2))], a: FloatField, ij: FloatFieldIJ, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = v
        out = v[0, 0, 0][3]
        out = v[0, 0, 0][0, 1]
        out = v[0, 0, 0][-1]
        out = tab[0, 0]
        out = tab.A[0]
        out = a[0, 0, 0][1]
        out = a.A[0]
        out = a.at(0)
        out = a.at(K=K)
        out = a.at(K=0, L=2)
        out = a.at()
        out = ij.at(K=0)
        out = a.T
        tab[0] = 1.0
        v.A[0] = 1.0
        a.at(K=0) = 1.0
        u[0, 0, 0][1] = 2.0
        v = tab
        out = v @ a
",
        &expect![[r#"
            E30 3:15 `v` has 3 numbers at each point, and none of them is named
            E30 4:26 `v` has 3 elements along this data dimension, and none at 3
            E30 5:26 `v` has 1 data dimension (3), and 2 data indices are given
            E30 6:26 `v` has 3 elements along this data dimension, and none at -1
            E30 7:19 `tab` has 8 numbers at each point, and none of them is named
            E30 8:21 `tab` has 2 data dimensions (4, 2), and 1 data index is given
            E30 9:15 `a` has no data dimensions, and `a[...][...]` asks for one
            E30 10:15 `a` has no data dimensions, and `a.A[...]` asks for one
            E32 11:20 `.at(...)` takes its level as `K=level`
            E32 12:22 `a.at(K=K)` is the level that the statement runs at
            E32 13:25 `.at(...)` takes `K` and `ddim` only
            E32 14:15 `.at(...)` has no level
            E32 15:15 `ij` has no levels
            E30 16:15 `a` has no data dimensions, and `a.T` asks for one
            E24 17:9 `tab` is a table and cannot be assigned
            E31 18:9 `v.A[...]` can be read only
            E00 19:9 invalid assignment target
            E52 20:9 `u` is assigned by element, and nothing says how many it has
            E30 21:13 `v` has the sizes [3], and the value has [4, 2]
            E30 22:15 `@` joins operands with the sizes [3] and []
        "#]],
    );
}

#[test]
fn bounds_of_run_time_that_are_no_levels_are_refused() {
    let text = |bounds: &str| {
        format!(
            "
def s(a: FloatField, out: FloatField, kf: FloatFieldK, top: IntFieldIJ, n: int):
    with computation(FORWARD), interval({bounds}):
        out = a
"
        )
    };
    check(
        &text("0, n + 1"),
        &expect![[r#"
        E10 2:44 a bound of the interval computes with `n`, which is known only while the stencil runs
    "#]],
    );
    check(
        &text("0, a"),
        &expect![[r#"
        E10 2:44 `a` has the axes IJK and bounds an interval
    "#]],
    );
    check(
        &text("0, kf"),
        &expect![[r#"
        E10 2:44 `kf` has the axes K and bounds an interval
    "#]],
    );
    check(
        &text("top[1, 0], None"),
        &expect![[r#"
        E10 2:41 `top` bounds an interval with the value of another column
    "#]],
    );
    check(
        &text("n"),
        &expect![[r#"
        E10 2:41 a single level is known while compiling
    "#]],
    );
    check(
        "
def s(a: FloatField, out: FloatField, top: IntFieldIJ):
    with computation(FORWARD), interval(0, top):
        out = a
        top = 3
",
        &expect![[r#"
            E10 2:44 `top` bounds an interval and is assigned within it
        "#]],
    );
}

#[test]
fn other_levels_are_assigned_in_sweeps_only() {
    expect![[r#"
        out[0, 0, 1] = a
            E17 3:9 `out` is assigned at another level in a parallel computation
        out[0, 0, n] = a
            E17 3:9 `out` is assigned at another level in a parallel computation
        out[1, 0, n] = a
            E16 3:9 `out` is assigned at another column
    "#]]
    .assert_eq(&refusals("PARALLEL", &["out[0, 0, 1] = a", "out[0, 0, n] = a", "out[1, 0, n] = a"]));
    expect![[r#"
        out[0, 0, 1.5] = a
            E28 3:19 the offset along K has the type float64, and must be an integer
        out = a[0, 0, 0.5]
            E28 3:23 the offset along K has the type float64, and must be an integer
    "#]]
    .assert_eq(&refusals("FORWARD", &["out[0, 0, 1.5] = a", "out = a[0, 0, 0.5]"]));
}
