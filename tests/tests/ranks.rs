//! Programs on several ranks have the bits of one rank, however the domain is cut. Faults of ranks are told.

use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::config::Config;
use isobar_compiler::types::{DType, Value};
use isobar_program::interpret::{HaloFill, Transport};
use isobar_runtime::Buffer;
use isobar_runtime::executors::{Executor, OwnedSetting, interpreters, rayon};
use isobar_runtime::programs::{
    ProgramArguments, ProgramExecutable, ProgramRefusal, RankThread, Ranks, RunSurroundings,
};
use serde_json::{Value as Json, json};

const STENCILS: &str = "
def lap(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q[-1, -1, 0] + q[1, 0, 0] + q[0, -1, 0] + q[2, 1, 0] - 4.0 * q

def step(q: Field[float], l: Field[float], a: float):
    with computation(PARALLEL), interval(...):
        q = q + a * l
";

const HALO: i64 = 2;

/// The fields of a tile with a halo of two points, and its stencils.
fn document(body: &Json, plans: &Json) -> String {
    let field = |role: &str| {
        json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": ["I+4", "J+4", "K"],
            "origin": [HALO, HALO, 0]})
    };
    json!({
        "isobar_program": 1, "name": "model", "files": {"main.py": STENCILS}, "grid": {"halo": HALO},
        "fields": {"q": field("argument"), "l": field("local")},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}},
        "stencils": {"lap": {"function": "main.lap"}, "step": {"function": "main.step"}},
        "plans": plans,
        "body": body,
    })
    .to_string()
}

/// Three steps of diffusion, with a statement between the phases of an exchange.
fn steps(plan: Option<&str>) -> Json {
    let exchange = |phase: &str| {
        let mut it = json!({"exchange": ["q"], "width": HALO, "phase": phase});
        if let Some(plan) = plan {
            it["plan"] = json!(plan);
        }
        it
    };
    json!([
        {"for": "it", "range": [3], "body": [
            exchange("start"),
            {"fill": "l", "with": 0.0},
            exchange("wait"),
            {"call": "lap", "args": {"q": "q", "out": "l"}},
            {"call": "step", "args": {"q": "q", "l": "l", "a": "a"}}]},
        exchange("update")])
}

/// The plan of a rank at `(x, y)` among `(nx, ny)` that cut a periodic tile, each with `points`.
fn plan([x, y]: [i64; 2], [nx, ny]: [i64; 2], points: [i64; 3]) -> Json {
    let all: Vec<[i64; 2]> =
        (-1..=1).flat_map(|i| (-1..=1).map(move |j| [i, j])).filter(|it| *it != [0, 0]).collect();
    let rank_of = |[i, j]: [i64; 2]| (x + i).rem_euclid(nx) * ny + (y + j).rem_euclid(ny);
    let along = |axis: usize, side: i64, is_halo: bool| {
        let n = points[axis];
        match (side, is_halo) {
            (0, _) => [axis as i64, HALO, n, 1],
            (-1, false) => [axis as i64, HALO, HALO, 1],
            (-1, true) => [axis as i64, 0, HALO, 1],
            (_, false) => [axis as i64, n, HALO, 1],
            (_, true) => [axis as i64, HALO + n, HALO, 1],
        }
    };
    let strip = |[i, j]: [i64; 2], is_halo: bool| json!({"field": 0, "along": [along(0, i, is_halo), along(1, j, is_halo), [2, 0, points[2], 1]]});
    let mut ranks: Vec<i64> = all.iter().map(|it| rank_of(*it)).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let neighbours = ranks.into_iter().map(|rank| {
        let send = all.iter().filter(|it| rank_of(**it) == rank).map(|it| strip(*it, false));
        // In the order in which the other one sends: what it sends up, arrives from below.
        let receive =
            all.iter().map(|[i, j]| [-i, -j]).filter(|it| rank_of(*it) == rank).map(|it| strip(it, true));
        json!({"rank": rank, "send": send.collect::<Vec<_>>(), "receive": receive.collect::<Vec<_>>()})
    });
    json!({"tag": 5, "neighbours": neighbours.collect::<Vec<_>>()})
}

/// The number of a point of the whole tile.
fn value(i: i64, j: i64, k: i64) -> f64 {
    ((i * 31 + j * 17 + k * 7) % 23) as f64 * 0.37 - 3.0
}

/// A part of the tile that starts at `first`, with a halo of NaN.
fn part([i0, j0]: [i64; 2], [ni, nj, nk]: [i64; 3]) -> Array {
    let shape = [ni + 2 * HALO, nj + 2 * HALO, nk].map(|it| usize::try_from(it).expect("it is positive"));
    let mut array = Array::zeros(DType::Float64, &shape);
    array.elements = Elements::filled(Value::Float64(f64::NAN), array.elements.len());
    for i in 0..ni {
        for j in 0..nj {
            for k in 0..nk {
                let index = [i + HALO, j + HALO, k].map(|it| usize::try_from(it).expect("it is positive"));
                let at = array.position(&index);
                array.elements.set(at, Value::Float64(value(i0 + i, j0 + j, k)));
            }
        }
    }
    array
}

fn executable(
    text: &str,
    domain: [i64; 3],
    executor: &Arc<dyn Executor>,
) -> Result<ProgramExecutable, ProgramRefusal> {
    let named = ("model.json", text);
    let setting = OwnedSetting { temporary: std::env::temp_dir(), ..OwnedSetting::embedded(1) };
    ProgramExecutable::new(
        named,
        Config::default(),
        (domain, HaloFill::Periodic),
        Arc::clone(executor),
        setting,
    )
}

/// Runs a program on a field, and answers the field.
fn ran(
    text: &str,
    (domain, mut q): ([i64; 3], Array),
    executor: &Arc<dyn Executor>,
    ranks: Option<(&Ranks, u32)>,
) -> Result<Array, ProgramRefusal> {
    let mut executable = executable(text, domain, executor)?;
    let mut arguments = ProgramArguments::default();
    // The elements are lent, so that the run leaves them here.
    let first = std::ptr::NonNull::new(match &mut q.elements {
        Elements::Float64(it) => it.as_mut_ptr().cast::<u8>(),
        _ => panic!("it has doubles"),
    })
    .expect("it has an address");
    // SAFETY: `q` lives until the run is over, and nothing else uses it.
    #[expect(unsafe_code, reason = "memory is lent as embedders lend theirs")]
    let buffer = unsafe { Buffer::lent(q.dtype(), first, &q.shape, &q.strides) }.expect("it fits memory");
    arguments.fields.insert("q".to_owned(), buffer);
    arguments.scalars.insert("a".to_owned(), ScalarInput::Float(0.07));
    let mut rank = ranks.map(|(ranks, it)| RankThread::new(ranks.clone(), it));
    let transport = rank.as_mut().map(|it| it as &mut dyn Transport);
    executable.run(arguments, RunSurroundings { host: &mut |_| Ok(()), transport })?;
    Ok(q)
}

fn told(refused: &ProgramRefusal) -> Vec<String> {
    refused.diagnostics.iter().map(|it| format!("{}: {}", it.code, it.message)).collect()
}

/// Runs a program on each of several ranks, each a thread.
fn each_rank<T: Send>(n: u32, run: impl Fn(&Ranks, u32) -> T + Sync) -> Vec<T> {
    let ranks = Ranks::new(n);
    std::thread::scope(|scope| {
        let one = |rank| {
            let (ranks, run) = (&ranks, &run);
            scope.spawn(move || {
                let result = run(ranks, rank);
                ranks.end(rank);
                result
            })
        };
        let all: Vec<_> = (0..n).map(one).collect();
        all.into_iter().map(|it| it.join().expect("no rank panics")).collect()
    })
}

fn executors() -> [Arc<dyn Executor>; 3] {
    [Arc::new(interpreters::Debug), Arc::new(interpreters::Numpy), Arc::new(rayon::Rayon)]
}

#[test]
fn a_tile_that_is_cut_has_the_bits_of_the_whole_one() {
    let whole = [12, 8, 3];
    for executor in executors() {
        let text = document(&steps(None), &json!({}));
        let expected = ran(&text, (whole, part([0, 0], whole)), &executor, None).unwrap();
        for cuts in [[1, 1], [2, 1], [1, 2], [3, 2], [2, 4]] {
            let points = [whole[0] / cuts[0], whole[1] / cuts[1], whole[2]];
            let place = |rank: u32| [i64::from(rank) / cuts[1], i64::from(rank) % cuts[1]];
            let n = u32::try_from(cuts[0] * cuts[1]).unwrap();
            let found = each_rank(n, |ranks, rank| {
                let at = place(rank);
                let text = document(&steps(Some("all")), &json!({"all": plan(at, cuts, points)}));
                let q = part([at[0] * points[0], at[1] * points[1]], points);
                ran(&text, (points, q), &executor, Some((ranks, rank))).unwrap()
            });
            for (rank, found) in (0..).zip(&found) {
                let at = place(rank);
                // With the halo, which came from the others behind the last step.
                for (i, j, k) in (0..points[0] + 4)
                    .flat_map(|i| (0..points[1] + 4).map(move |j| (i, j)))
                    .flat_map(|(i, j)| (0..points[2]).map(move |k| (i, j, k)))
                {
                    let own = [i, j, k].map(|it| usize::try_from(it).expect("it is positive"));
                    let of_whole =
                        |at: i64, cut: i64, n: i64, size: i64| (cut * n + at - HALO).rem_euclid(size) + HALO;
                    let other =
                        [of_whole(i, at[0], points[0], whole[0]), of_whole(j, at[1], points[1], whole[1]), k];
                    let other = other.map(|it| usize::try_from(it).expect("it is positive"));
                    let (Value::Float64(is), Value::Float64(is_to_be)) =
                        (found.get(&own), expected.get(&other))
                    else {
                        panic!("it has doubles")
                    };
                    assert_eq!(
                        is.to_bits(),
                        is_to_be.to_bits(),
                        "{executor:?} {cuts:?} rank {rank} at {own:?}"
                    );
                }
            }
        }
    }
}

/// A plan of a rank with itself.
fn own_plan(send: &Json, receive: &Json) -> Json {
    json!({"east": {"tag": 1, "neighbours": [{"rank": 0, "send": send, "receive": receive}]}})
}

#[test]
fn strips_arrive_turned_and_negated_as_their_plan_says() {
    // Three points along I, which end up along J, from the last to the first, with the other sign.
    let plan = own_plan(
        &json!([{"field": 0, "along": [[0, 4, 3, -1], [1, 2, 2, 1], [2, 0, 2, 1]], "negated": true}]),
        &json!([{"field": 0, "along": [[1, 3, 3, 1], [0, 0, 2, 1], [2, 0, 2, 1]]}]),
    );
    let text = document(&json!([{"exchange": ["q"], "kind": "vector", "plan": "east"}]), &plan);
    let q = part([0, 0], [3, 4, 2]);
    let executor: Arc<dyn Executor> = Arc::new(interpreters::Debug);
    let found = each_rank(1, |ranks, rank| {
        ran(&text, ([3, 4, 2], q.clone()), &executor, Some((ranks, rank))).unwrap()
    });
    for i in 0..3 {
        for j in 0..2 {
            for k in 0..2 {
                let Value::Float64(sent) = q.get(&[4 - i, 2 + j, k]) else { panic!("it has doubles") };
                assert_eq!(found[0].get(&[j, 3 + i, k]), Value::Float64(-sent));
            }
        }
    }
}

#[test]
fn ranks_get_what_was_there_when_the_exchange_started() {
    let along = |first: i64| json!([{"field": 0, "along": [[0, first, 1, 1], [1, 2, 1, 1], [2, 0, 1, 1]]}]);
    let exchange = |phase: &str| json!({"exchange": ["q"], "plan": "east", "phase": phase});
    let double = json!({"call": "step", "args": {"q": "q", "l": "q", "a": 1.0}});
    let text =
        document(&json!([exchange("start"), double, exchange("wait")]), &own_plan(&along(2), &along(4)));
    let q = part([0, 0], [2, 1, 1]);
    for executor in executors() {
        let found = each_rank(1, |ranks, rank| {
            ran(&text, ([2, 1, 1], q.clone()), &executor, Some((ranks, rank))).unwrap()
        });
        let Value::Float64(sent) = q.get(&[2, 2, 0]) else { panic!("it has doubles") };
        let expected = [Value::Float64(2.0 * sent), Value::Float64(sent)];
        assert_eq!([found[0].get(&[2, 2, 0]), found[0].get(&[4, 2, 0])], expected, "{executor:?}");
    }
}

#[test]
fn phases_may_stand_below_conditions_that_all_ranks_decide_alike() {
    let strip = json!([{"field": 0, "along": [[0, 2, 1, 1], [1, 2, 1, 1], [2, 0, 1, 1]]}]);
    let exchange = |phase: &str| json!({"exchange": ["q"], "plan": "east", "phase": phase});
    let executor: Arc<dyn Executor> = Arc::new(interpreters::Debug);
    let run = |body: Json| {
        let text = document(&body, &own_plan(&strip, &strip));
        let q = part([0, 0], [2, 2, 1]);
        let mut all =
            each_rank(1, |ranks, rank| ran(&text, ([2, 2, 1], q.clone()), &executor, Some((ranks, rank))));
        all.remove(0).map_or_else(|it| told(&it), |_| Vec::new())
    };
    let below = |condition: &str, phase: &str| json!({"if": condition, "then": [exchange(phase)]});
    assert_eq!(
        run(json!([{"let": "n", "be": 1}, {"for": "it", "range": [0, 2], "body": [
            below("it == n - 1", "start"), below("it < 1", "wait")]}])),
        Vec::<String>::new()
    );
    let differ = "P17: the exchange of `q` is refused: it stands below a condition that ranks may decide differently, \
                  and all of them must come to it";
    // All ranks are called with the same numbers, and callbacks may answer others to each.
    assert_eq!(run(json!([below("a > 0.0", "update")])), Vec::<String>::new());
    let asked = json!({"host": "ask", "gives": {"b": "float64"}});
    assert_eq!(run(json!([asked, below("b > 0.0", "update")])), [differ]);
    let of_b = json!({"let": "c", "be": "b + a"});
    assert_eq!(
        run(json!([asked, of_b, {"while": "c < 0.0", "limit": 2, "body": [exchange("update")]}])),
        [differ]
    );
    assert_eq!(
        run(json!([asked, {"for": "it", "range": ["int(b)"], "body": [exchange("update")]}])),
        [differ]
    );
    let chosen = json!({"if": "b > 0", "then": [{"let": "n", "be": 1}], "else": [{"let": "n", "be": 2}]});
    assert_eq!(run(json!([asked, chosen, below("n == 1", "update")])), [differ]);
    assert_eq!(run(json!([exchange("wait")])), ["P13: the exchange of `q` waits and has not started"]);
    assert_eq!(run(json!([exchange("start")])), ["P13: the exchange of `q` has no `wait`"]);
    assert_eq!(
        run(json!([exchange("wait"), exchange("start")])),
        ["P13: the exchange of `q` waits and has not started"]
    );
    assert_eq!(
        run(json!([exchange("start"), below("a > 1.0", "wait")])),
        ["P13: the exchange of `q` has no `wait` in this run"]
    );
    assert_eq!(
        run(json!([exchange("start"), exchange("update"), exchange("wait")])),
        ["P13: the exchange of `q` starts again before its `wait`"]
    );
}

#[test]
fn a_plan_that_does_not_fit_is_told() {
    let executor: Arc<dyn Executor> = Arc::new(interpreters::Debug);
    let strip = |field: u32, along: Json| json!([{"field": field, "along": along}]);
    let fits = strip(0, json!([[0, 2, 1, 1], [1, 2, 1, 1], [2, 0, 1, 1]]));
    let refused = |strip: &Json| {
        let text = document(&json!([{"exchange": ["q"], "plan": "east"}]), &own_plan(strip, &fits));
        executable(&text, [2, 2, 1], &executor).map_or_else(|it| told(&it), |_| Vec::new())
    };
    assert_eq!(refused(&fits), Vec::<String>::new());
    let no = |why: &str| vec![format!("P17: the exchange of `q` is refused: {why}")];
    assert_eq!(
        refused(&strip(0, json!([[0, 5, 2, 1], [1, 2, 1, 1], [2, 0, 1, 1]]))),
        no("of `q`, 2 points from 5 along dimension 0 leave its 6")
    );
    assert_eq!(
        refused(&strip(0, json!([[0, 0, 2, -1], [1, 2, 1, 1], [2, 0, 1, 1]]))),
        no("of `q`, 2 points from 0 along dimension 0 leave its 6")
    );
    assert_eq!(
        refused(&strip(0, json!([[0, 5, 1, 1], [0, 2, 1, 1], [2, 0, 1, 1]]))),
        no("of `q`, a strip has the dimensions [0, 0, 2], and the field has 3")
    );
    assert_eq!(refused(&strip(1, json!([[0, 5, 1, 1]]))), no("there is no field 1 in it"));
    // One neighbour gets the doubles, and another the integers.
    let neighbour = |strip: &Json| json!({"east": {"tag": 1, "neighbours": [{"rank": 0, "send": strip, "receive": strip}]}});
    let of_n = strip(1, json!([[0, 2, 1, 1], [1, 2, 1, 1], [2, 0, 1, 1]]));
    let mut text: Json = serde_json::from_str(&document(
        &json!([{"exchange": ["q", "n"], "plan": "east"}]),
        &neighbour(&of_n),
    ))
    .unwrap();
    text["fields"]["n"] = json!({"role": "argument", "dtype": "int32", "axes": "IJK",
        "shape": ["I+4", "J+4", "K"], "origin": [HALO, HALO, 0]});
    let found =
        executable(&text.to_string(), [2, 2, 1], &executor).map_or_else(|it| told(&it), |_| Vec::new());
    assert_eq!(found, ["P17: the exchange of `q`, `n` is refused: its fields differ in type"]);
    let whole = |what: &str, body: Json, plans: Json| {
        let text = document(&body, &plans);
        let found = executable(&text, [2, 2, 1], &executor).map_or_else(|it| told(&it), |_| Vec::new());
        assert_eq!(found, [what]);
    };
    whole(
        "P17: the plan `east` is refused: each dimension of a strip has a number, a first index, points, and a step of 1 \
         or -1",
        json!([]),
        own_plan(&strip(0, json!([[0, 5, 2, 2]])), &fits),
    );
    whole(
        "P02: there is no plan `west`",
        json!([{"exchange": ["q"], "plan": "west"}]),
        own_plan(&fits, &fits),
    );
}

#[test]
fn ranks_that_do_not_meet_are_told() {
    let executor: Arc<dyn Executor> = Arc::new(interpreters::Debug);
    let strip = |n: i64| json!([{"field": 0, "along": [[0, 2, n, 1], [1, 2, 1, 1], [2, 0, 1, 1]]}]);
    let update = json!([{"exchange": ["q"], "plan": "other"}]);
    let with = |other: u32, n: i64| json!({"other": {"tag": 1, "neighbours": [{"rank": other, "send": strip(n), "receive": strip(n)}]}});
    let run = |n: u32, text_of: &(dyn Fn(u32) -> String + Sync)| -> Vec<Vec<String>> {
        each_rank(n, |ranks, rank| {
            let q = part([0, 0], [2, 2, 1]);
            ran(&text_of(rank), ([2, 2, 1], q), &executor, Some((ranks, rank)))
                .map_or_else(|it| told(&it), |_| Vec::new())
        })
    };
    // One sends two elements, and the other expects one.
    let found = run(2, &|rank| document(&update, &with(1 - rank, i64::from(rank) + 1)));
    assert_eq!(
        found[0],
        [
            "P20: the exchange of `q` ended: rank 1 sent 2 elements of float64, and 1 of float64 are expected: the ranks run \
          different programs, or their exchanges in another order"
        ]
    );
    // One has no exchange at all.
    let nothing = json!([]);
    let found = run(2, &|rank| document(if rank == 0 { &update } else { &nothing }, &with(1, 1)));
    assert_eq!(found[0], ["P20: the exchange of `q` ended: rank 1 has ended, and rank 0 waits for it"]);
    // Each rank sends to the next one, and waits for a message of the next one: none ever comes.
    let found = run(3, &|rank| {
        let neighbours = json!([{"rank": (rank + 1) % 3, "send": strip(1), "receive": strip(1)}]);
        document(&update, &json!({"other": {"tag": 1, "neighbours": neighbours}}))
    });
    let all_wait =
        |it: &Vec<String>| it[0].contains("all ranks wait for each other") || it[0].contains("has ended");
    assert!(found.iter().all(all_wait), "{found:?}");
    // No such rank.
    let found = run(1, &|_| document(&update, &with(7, 1)));
    assert_eq!(found[0], ["P20: the exchange of `q` ended: there is no rank 7, there are 1"]);
    // No ranks at all.
    let text = document(&update, &with(0, 1));
    let found = ran(&text, ([2, 2, 1], part([0, 0], [2, 2, 1])), &executor, None).map_err(|it| told(&it));
    assert_eq!(found.unwrap_err(), ["P20: the exchange of `q` ended: this run has no other ranks"]);
}
