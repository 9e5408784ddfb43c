//! Values that are computed again where they are read.

use super::*;

fn plane(i: &str, j: &str, body: &str) -> String {
    format!("  for j in {j} parallel:\n    for i in {i} parallel:\n      {body}\n")
}

fn recomputed(nests: &[String]) -> String {
    let loops = format!("for k in [0, K) parallel:\n{}", nests.concat());
    let n = nests.len();
    after(&loops, |tree| {
        let counts = Accesses::of(&tree.children).counts();
        recompute::recompute(tree, &first(&[0]), (0, n), &counts).map(drop)
    })
}

#[test]
fn a_position_computes_what_it_reads_at_each_offset() {
    let wide = "[-1, I + 1)";
    let nests = [
        plane(wide, "[0, J)", "t[i + 2, j + 2, k] = a[i + 3, j + 2, k] - a[i + 1, j + 2, k]"),
        plane(wide, "[0, J)", "u[i + 2, j + 2, k] = t[i + 2, j + 2, k] * 2.0"),
        plane("[0, I)", "[0, J)", "b[i, j, k] = u[i + 3, j + 2, k] - u[i + 1, j + 2, k] + b[i, j, k]"),
    ];
    expect![[r#"
        local t: float64
        local u: float64
        local t_west: float64
        local t_east: float64
        local u_west: float64
        local u_east: float64

        for k in [0, K) parallel:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              t_west = a[i + 2, j + 2, k] - a[i, j + 2, k]
              t_east = a[i + 4, j + 2, k] - a[i + 2, j + 2, k]
              u_west = t_west * 2.0
              u_east = t_east * 2.0
              b[i, j, k] = u_east - u_west + b[i, j, k]
    "#]]
    .assert_eq(&recomputed(&nests));
}

#[test]
fn what_is_overwritten_or_used_elsewhere_is_not_computed_again() {
    let read = |field: &str| format!("t[i + 2, j + 2, k] = {field}");
    let plain = |body: &str| plane("[0, I)", "[0, J)", body);
    let of_t = "b[i, j, k] = t[i + 2, j + 2, k]";
    let beside = "b[i, j, k] = t[i + 3, j + 2, k]";
    let found = [
        [plain(&read("b[i + 1, j, k]")), plain(of_t)],
        [plain(&read("b[i, j, k]")), plain(of_t)],
        [plain(&read("b[i, j, k]")), plain(beside)],
        [plain("p[i, j] = 1.0"), plain(of_t)],
        [plain(&read("1.0")), plain(&read("t[i + 2, j + 2, k] + a[i, j, k]"))],
    ];
    let told: Vec<String> = found.iter().map(|it| recomputed(it)).collect();
    expect![[r#"
        refused: `b` is overwritten while others still read it

        local t: float64
        local t_here: float64

        for k in [0, K) parallel:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              t_here = b[i, j, k]
              b[i, j, k] = t_here

        refused: a loop over `i` has not all positions that are needed

        refused: `p` is used elsewhere

        refused: `t` is written again by the last loop
    "#]]
    .assert_eq(&told.join("\n"));
}
