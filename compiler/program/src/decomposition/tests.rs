//! Exchanges on a cube against its points in space. A halo has the values of the points that lie there once the face beside
//! it is folded out.

use std::collections::BTreeMap;

use isobar_front::config::Config;
use isobar_ground::diag::Diagnostic;
use isobar_ground::space::{Axis, Domain};
use serde_json::{Value as Json, json};

use super::{RankGrid, Topology, planned};
use crate::compile::compile;
use crate::nodes::{Container, ProgramIr, ProgramStmtKind};
use crate::plan::HaloStrip;

type Vector = [i64; 3];

/// The directions of `i`, `j` and outwards of each face.
const FACES: [[Vector; 3]; 6] = [
    [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
    [[-1, 0, 0], [0, 0, 1], [0, 1, 0]],
    [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
    [[0, 0, -1], [0, -1, 0], [-1, 0, 0]],
    [[0, 0, -1], [1, 0, 0], [0, -1, 0]],
    [[0, 1, 0], [1, 0, 0], [0, 0, -1]],
];

const POINTS: i64 = 6;
const HALO: i64 = 2;
const UNKNOWN: i64 = i64::MIN;

fn sum(of: &[(i64, Vector)]) -> Vector {
    [0, 1, 2].map(|at| of.iter().map(|(n, it)| n * it[at]).sum())
}

fn dot(one: Vector, other: Vector) -> i64 {
    (0..3).map(|at| one[at] * other[at]).sum()
}

/// Where a point of a face lies, in halves of a point, and the directions of `i` and `j` there. Outside of the face by one
/// edge, it lies on the face behind that.
fn folded(face: usize, half: [i64; 2]) -> Option<(Vector, [Vector; 2])> {
    let [along_i, along_j, out] = FACES[face];
    let mut axes = [along_i, along_j];
    let mut at = vec![];
    let mut height = POINTS;
    for axis in [0, 1] {
        let inside = half[axis].clamp(0, 2 * POINTS);
        let beyond = half[axis] - inside;
        if beyond != 0 {
            if height < POINTS {
                return None;
            }
            height = POINTS - beyond.abs();
            axes[axis] = sum(&[(-beyond.signum(), out)]);
        }
        at.push((inside - POINTS, [along_i, along_j][axis]));
    }
    at.push((height, out));
    Some((sum(&at), axes))
}

/// A number for each point in space.
fn number(at: Vector) -> i64 {
    at[0] + 100 * at[1] + 10_000 * at[2]
}

/// A vector for each point in space, another one on each rank that has the point.
fn wind(at: Vector, rank: u32) -> Vector {
    [number(at), 3 * number(at) + 1, 7 * number(at) + 2].map(|it| it + 1_000_000 * i64::from(rank))
}

fn program(fields: &Json, exchange: &Json) -> ProgramIr {
    let document = json!({
        "isobar_program": 1, "name": "cube", "grid": {"halo": HALO}, "fields": fields, "body": [exchange],
    });
    let compiled = compile("cube.json", &document.to_string(), Config::default());
    compiled.program.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics))
}

fn field(staggered: &str) -> Json {
    let size = |axis: &str| {
        let is_staggered = staggered.contains(axis);
        format!("{axis}+{}", 2 * HALO + i64::from(is_staggered))
    };
    let mut it =
        json!({"role": "argument", "dtype": "float64", "axes": "IJK", "shape": [size("I"), size("J"), "K"]});
    if !staggered.is_empty() {
        it["staggered"] = json!(staggered);
    }
    it
}

/// The positions along I and J of a field of one rank and of its halo. Each has its place on the face, in halves of a point.
fn positions(
    it: &Container,
    grid: &RankGrid,
    rank: u32,
    points: i64,
) -> impl Iterator<Item = ([i64; 2], [i64; 2])> + use<> {
    let (_, place) = grid.tile_and_place(rank);
    let staggered = [Axis::I, Axis::J].map(|axis| i64::from(it.staggered.has(axis)));
    let range = move |axis: usize| -HALO..points + staggered[axis] + HALO;
    range(0).flat_map(move |i| range(1).map(move |j| [i, j])).map(move |at| {
        let half = [0, 1].map(|axis| 2 * (i64::from(place[axis]) * points + at[axis]) + 1 - staggered[axis]);
        (at, half)
    })
}

/// The indices of a strip in the order of its message, along I and J and K.
fn indices(strip: &HaloStrip) -> Vec<[usize; 3]> {
    let mut all = vec![[0; 3]];
    for it in &strip.along {
        let step = |n: usize| if it.is_backwards { it.first - n } else { it.first + n };
        all = all
            .iter()
            .flat_map(|index| {
                (0..it.n).map(move |n| {
                    let mut index = *index;
                    index[it.dimension] = step(n);
                    index
                })
            })
            .collect();
    }
    all
}

/// The fields of all ranks by rank, field and position, after an exchange: elements of the first level.
type Values = BTreeMap<(u32, usize, [i64; 2]), i64>;

fn exchanged(program: &ProgramIr, grid: &RankGrid, before: &Values) -> Result<Values, Vec<Diagnostic>> {
    let points = POINTS / i64::from(grid.layout[0]);
    let domain = Domain::new(points, points, 2);
    let of_rank = |rank| planned(program, grid, rank, domain);
    let plans: Vec<ProgramIr> = (0..grid.n_ranks()).map(of_rank).collect::<Result<_, _>>()?;
    let position = |index: [usize; 3]| [0, 1].map(|at| i64::try_from(index[at]).unwrap() - HALO);
    let mut sent: BTreeMap<(u32, u32), Vec<i64>> = BTreeMap::new();
    for (rank, program) in (0..).zip(&plans) {
        for neighbour in program.plans.values().flat_map(|it| it.neighbours.iter()) {
            let message = sent.entry((rank, neighbour.rank)).or_default();
            for strip in &neighbour.sent {
                let sign = if strip.is_negated { -1 } else { 1 };
                message.extend(
                    indices(strip).into_iter().map(|it| sign * before[&(rank, strip.field, position(it))]),
                );
            }
        }
    }
    let mut behind = before.clone();
    for (rank, program) in (0..).zip(&plans) {
        for neighbour in program.plans.values().flat_map(|it| it.neighbours.iter()) {
            let mut message = sent[&(neighbour.rank, rank)].iter();
            for strip in &neighbour.received {
                for it in indices(strip) {
                    behind.insert((rank, strip.field, position(it)), *message.next().unwrap());
                }
            }
            assert_eq!(message.next(), None, "a message of {} to {rank} is longer", neighbour.rank);
        }
    }
    Ok(behind)
}

/// Exchanges fields whose own points hold `value`, and holds each element of the halo against `expected`. Both get the rank,
/// the field and the point in halves.
fn hold(
    program: &ProgramIr,
    n: u32,
    value: &dyn Fn(u32, usize, [i64; 2]) -> i64,
    expected: &dyn Fn(u32, usize, [i64; 2]) -> Option<i64>,
) {
    let grid = RankGrid { topology: Topology::Cube, layout: [n, n] };
    let points = POINTS / i64::from(n);
    let ProgramStmtKind::Exchange(exchange) = &program.body[0].kind else { panic!("it is an exchange") };
    let mut before = Values::new();
    for rank in 0..grid.n_ranks() {
        for (at, field) in exchange.fields.iter().enumerate() {
            let it = &program.containers[field.container];
            for (position, half) in positions(it, &grid, rank, points) {
                let is_own = [0, 1].iter().all(|&axis| {
                    let staggered = it.staggered.has([Axis::I, Axis::J][axis]);
                    (0..points + i64::from(staggered)).contains(&position[axis])
                });
                before.insert((rank, at, position), if is_own { value(rank, at, half) } else { UNKNOWN });
            }
        }
    }
    let behind = exchanged(program, &grid, &before).unwrap();
    let mut n_held = 0;
    for (at, field) in exchange.fields.iter().enumerate() {
        for rank in 0..grid.n_ranks() {
            for (position, half) in positions(&program.containers[field.container], &grid, rank, points) {
                let found = behind[&(rank, at, position)];
                let wanted = expected(rank, at, half).unwrap_or(before[&(rank, at, position)]);
                assert_eq!(
                    found, wanted,
                    "rank {rank} of {n}x{n} on each face, field {at} at {position:?}, half {half:?}"
                );
                n_held += 1;
            }
        }
    }
    assert!(n_held > 100, "{n_held}");
}

fn face(rank: u32, n: u32) -> usize {
    (rank / (n * n)) as usize
}

#[test]
fn halos_of_a_cube_have_the_points_that_lie_there() {
    for staggered in ["", "IJ"] {
        let program = program(&json!({"q": field(staggered)}), &json!({"exchange": ["q"], "width": HALO}));
        for n in [1, 2, 3] {
            let of = |rank, _, half| folded(face(rank, n), half).map(|it| number(it.0));
            hold(&program, n, &|rank, at, half| of(rank, at, half).unwrap(), &of);
        }
    }
}

#[test]
fn vectors_turn_with_the_faces_of_a_cube() {
    // On points; on the edges across them (D grid), and along them (C grid).
    for [first, second] in [["", ""], ["J", "I"], ["I", "J"]] {
        let fields = json!({"u": field(first), "v": field(second)});
        let program = program(&fields, &json!({"exchange": ["u", "v"], "kind": "vector", "width": HALO}));
        for n in [1, 2, 3] {
            let of = |rank, at: usize, half| {
                let (point, axes) = folded(face(rank, n), half)?;
                Some(dot(wind(point, 0), axes[at]))
            };
            hold(&program, n, &|rank, at, half| of(rank, at, half).unwrap(), &of);
        }
    }
}

#[test]
fn the_edge_that_two_ranks_share_has_the_value_of_its_south_or_west() {
    let fields = json!({"u": field("J"), "v": field("I")});
    let program = program(&fields, &json!({"exchange": ["u", "v"], "kind": "interface", "width": 1}));
    for n in [1, 2, 3] {
        let points = POINTS / i64::from(n);
        let own = |rank, at: usize, half| {
            let (point, axes) = folded(face(rank, n), half).unwrap();
            dot(wind(point, rank), axes[at])
        };
        let grid = RankGrid { topology: Topology::Cube, layout: [n, n] };
        // The ranks that have a point at their south or west, by its place in space.
        let mut owners: BTreeMap<Vector, u32> = BTreeMap::new();
        for rank in 0..grid.n_ranks() {
            let (_, place) = grid.tile_and_place(rank);
            let first = place.map(|it| 2 * points * i64::from(it));
            for along in (0..points).map(|it| 2 * it + 1) {
                for half in [[first[0] + along, first[1]], [first[0], first[1] + along]] {
                    let (point, _) = folded(face(rank, n), half).unwrap();
                    assert_eq!(
                        owners.insert(point, rank),
                        None,
                        "two ranks have {point:?} at their south or west"
                    );
                }
            }
        }
        let expected = |rank, at: usize, half: [i64; 2]| {
            let (_, place) = grid.tile_and_place(rank);
            let across = 1 - at;
            let end = 2 * points * i64::from(place[across] + 1);
            let begin = 2 * points * i64::from(place[at]);
            let is_edge = half[across] == end && (begin..begin + 2 * points).contains(&half[at]);
            let (point, axes) = folded(face(rank, n), half)?;
            is_edge.then(|| dot(wind(point, owners[&point]), axes[at]))
        };
        hold(&program, n, &own, &expected);
    }
}

#[test]
fn exchanges_that_ranks_cannot_make_are_refused() {
    let told = |fields: &Json, exchange: &Json, layout: [u32; 2], topology| {
        let program = program(fields, exchange);
        let grid = RankGrid { topology, layout };
        let points = POINTS / i64::from(layout[0]);
        let found = planned(&program, &grid, 0, Domain::new(points, points, 1)).map(|_| ()).unwrap_err();
        found[0].message.clone()
    };
    let q = |staggered| json!({"q": field(staggered)});
    let one = json!({"exchange": ["q"], "width": HALO});
    assert_eq!(
        told(&q("I"), &one, [1, 1], Topology::Cube),
        "the exchange of `q` is refused: `q` is staggered along one axis, and faces of a cube are turned"
    );
    assert_eq!(
        told(&q(""), &one, [6, 6], Topology::Cube),
        "the exchange of `q` is refused: it is 2 points wide, and a rank has 1 along I"
    );
    let pair = json!({"u": field(""), "v": field("")});
    let interface = json!({"exchange": ["u", "v"], "kind": "interface", "width": 1});
    assert_eq!(
        told(&pair, &interface, [1, 1], Topology::Cube),
        "the exchange of `u`, `v` is refused: two ranks share an edge of `u` where it is staggered along J"
    );
    for (whole, layout, topology, why) in [
        (
            [6, 8, 1],
            [1, 1],
            Topology::Cube,
            "faces of a cube are square, and these have 6x8 points on 1x1 ranks",
        ),
        (
            [6, 6, 1],
            [2, 1],
            Topology::Cube,
            "faces of a cube are square, and these have 6x6 points on 2x1 ranks",
        ),
        ([6, 6, 1], [4, 1], Topology::Cube, "6 points along I are not cut into 4 equal parts"),
    ] {
        assert_eq!(RankGrid { topology, layout }.domain_of_rank(whole), Err(why.to_owned()));
    }
}
