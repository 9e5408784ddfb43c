//! Reference results of the examples: numbers that were inspected once, and the picture of each card.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use isobar_protocol::fields::ResultField;
use isobar_protocol::request::Request;
use isobar_protocol::worker::{Across, Plane};
use isobar_web::plots::colormap::{Colormap, ValueRange};
use isobar_web::state::gallery::{ENTRIES, entry};
use isobar_worker_first::compile::{Compiler, ProgramPart, ProgramSteps, model_of};
use isobar_worker_second::levels::LaterStages;
use miniz_oxide::deflate::compress_to_vec_zlib;
use serde::{Deserialize, Serialize};

/// Numbers of a field after a run with `debug`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Numbers {
    min: Option<f64>,
    max: Option<f64>,
    mean: Option<f64>,
    nan: u64,
    /// Of all bits of the array, halo included (FNV-1a).
    hash: String,
}

/// A domain on which `debug` is quick.
const SMALL: [i64; 3] = [20, 16, 12];
/// Steps of an example that moves: for its numbers, and for its picture.
const STEPS: u64 = 10;
const PICTURE_STEPS: u64 = 60;

fn request(name: &str, backend: &str, domain: Option<[i64; 3]>) -> Request {
    Request {
        files: [("main.py".to_owned(), text(name))].into(),
        backend: Some(backend.to_owned()),
        domain,
        ..Request::default()
    }
}

/// The fields after a run, or after so many steps.
fn ran(name: &str, backend: &str, domain: Option<[i64; 3]>, steps: u64) -> Vec<ResultField> {
    let mut compiler = Compiler::default();
    let request = request(name, backend, domain);
    if let Some(choice) = model_of(&request) {
        let steps = ProgramSteps { restart: true, count: steps.max(1) };
        return LaterStages::default().step_program(&request, &choice, steps, &|| 0.0).unwrap().fields;
    }
    if steps > 0 {
        compiler.step(&request, true, steps, &|| 0.0).unwrap().fields
    } else {
        compiler.run(&request, &|| 0.0, &mut |_, _| {}).unwrap().0
    }
}

/// The text of an example, as the page fetches it.
fn text(name: &str) -> String {
    std::fs::read_to_string(home(&format!("static/gallery/{}", entry(name).unwrap().file()))).unwrap()
}

fn home(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

#[test]
fn every_example_gives_the_numbers_that_are_kept() {
    let file = home("tests/golden/gallery.json");
    let found: BTreeMap<&str, BTreeMap<String, Numbers>> = ENTRIES
        .iter()
        .map(|entry| {
            let fields = ran(entry.name, "debug", Some(SMALL), STEPS);
            let numbers = fields.iter().map(|it| (it.info.name.clone(), numbers(it)));
            (entry.name, numbers.collect())
        })
        .collect();
    let found = serde_json::to_string_pretty(&found).unwrap() + "\n";
    if is_update() {
        std::fs::write(&file, &found).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(found == kept, "the gallery's numbers changed: look at them after UPDATE_EXPECT=1");
}

fn numbers(field: &ResultField) -> Numbers {
    let found = field.info.statistics;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in field.to_bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    Numbers { min: found.min, max: found.max, mean: found.mean, nan: found.nan, hash: format!("{hash:016x}") }
}

#[test]
fn every_card_has_the_picture_of_its_example() {
    for entry in ENTRIES {
        let mut compiler = Compiler::default();
        let asked = request(entry.name, "numpy", None);
        let (_, defaults) = match model_of(&asked) {
            Some(choice) => compiler.compile_program(&asked, &choice, None, &|| 0.0),
            None => compiler.compile(&asked, None, &|| 0.0),
        };
        let plot = defaults.plots.first().unwrap();
        // One run rains all of it out.
        let steps = if entry.name == "column_physics" { 0 } else { PICTURE_STEPS };
        let fields = ran(entry.name, "numpy", None, steps);
        let field = fields.iter().find(|it| it.info.name == plot.field).unwrap();
        let plane = if entry.name == "acoustic_column" {
            Plane { across: Across::J, at: 12, element: 0, has_halo: false }
        } else {
            Plane { across: Across::K, at: plot.k.unwrap_or(0), element: 0, has_halo: false }
        };
        let png = picture(field, plane);
        let file = home(&format!("static/gallery/pictures/{}.png", entry.name));
        if is_update() {
            std::fs::create_dir_all(home("static/gallery/pictures")).unwrap();
            std::fs::write(&file, &png).unwrap();
        }
        let kept = std::fs::read(&file).unwrap_or_default();
        assert!(png == kept, "{}: its picture changed: look at it after UPDATE_EXPECT=1", entry.name);
    }
}

/// Colours of a picture; one more is that of what is no number.
const COLOURS: u8 = 64;

fn picture(field: &ResultField, plane: Plane) -> Vec<u8> {
    let values = field.plane(plane).unwrap();
    let range = ValueRange::of(&values.values);
    let is_signed = range.low < -0.2 * range.high.abs();
    let (map, range) = if is_signed { (Colormap::RdBu, range.centred()) } else { (Colormap::Viridis, range) };
    let mut rows = Vec::new();
    for row in 0..values.height {
        // j goes up, k goes down.
        let row = if plane.across == Across::K { values.height - 1 - row } else { row };
        rows.push(0);
        rows.extend(values.values[row * values.width..][..values.width].iter().map(|&it| index(it, range)));
    }
    let mut palette = Vec::new();
    for at in 0..COLOURS {
        palette.extend(map.at(f64::from(at) / f64::from(COLOURS - 1)));
    }
    palette.extend([0xff, 0xff, 0xff]);
    let size = |n: usize| u32::try_from(n).unwrap().to_be_bytes();
    // Eight bits for each pixel, which is a number of the palette.
    let head = [&size(values.width)[..], &size(values.height), &[8, 3, 0, 0, 0]].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, *b"IHDR", &head);
    chunk(&mut png, *b"PLTE", &palette);
    chunk(&mut png, *b"IDAT", &compress_to_vec_zlib(&rows, 9));
    chunk(&mut png, *b"IEND", &[]);
    png
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of 64 colours")]
fn index(value: f64, range: ValueRange) -> u8 {
    if !value.is_finite() {
        return COLOURS;
    }
    (range.position(value).clamp(0.0, 1.0) * f64::from(COLOURS - 1)).round() as u8
}

fn chunk(png: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    png.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
    let checked = [&name[..], data].concat();
    png.extend(&checked);
    let mut crc = u32::MAX;
    for byte in checked {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    png.extend((!crc).to_be_bytes());
}

/// The mean of a field after some steps.
fn mean(fields: &[ResultField], name: &str) -> f64 {
    fields.iter().find(|it| it.info.name == name).unwrap().info.statistics.mean.unwrap()
}

fn max(fields: &[ResultField], name: &str) -> f64 {
    fields.iter().find(|it| it.info.name == name).unwrap().info.statistics.max.unwrap()
}

fn min(fields: &[ResultField], name: &str) -> f64 {
    fields.iter().find(|it| it.info.name == name).unwrap().info.statistics.min.unwrap()
}

#[track_caller]
fn assert_same(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-12 * one.abs().max(other.abs()), "{one} and {other}");
}

#[test]
fn shallow_water_loses_nothing_and_stays_calm() {
    let name = "shallow_water";
    let (first, later) = (ran(name, "numpy", None, 1), ran(name, "numpy", None, 400));
    assert_same(mean(&first, "h_out"), mean(&later, "h_out"));
    assert!(min(&later, "h_out") > 0.9 && max(&later, "h_out") < 1.4, "{:?}", later[0].info.statistics);
}

#[test]
fn a_model_of_shallow_water_loses_nothing_and_is_like_its_stencil() {
    let name = "shallow_water_model";
    let (first, later) = (ran(name, "numpy", None, 1), ran(name, "numpy", None, 60));
    assert_same(mean(&first, "h"), mean(&later, "h"));
    let of_stencil = ran("shallow_water", "numpy", None, 60);
    let highest = [max(&later, "h"), max(&of_stencil, "h_out")];
    assert!((highest[0] - highest[1]).abs() < 0.02, "{highest:?}");
}

#[test]
fn small_steps_of_diffusion_keep_the_sum_and_flatten() {
    let name = "diffusion_steps";
    let (first, later) = (ran(name, "numpy", None, 1), ran(name, "numpy", None, 20));
    assert!((mean(&first, "q") - mean(&later, "q")).abs() < 1e-14);
    assert!(max(&later, "q") < 0.5 * max(&first, "q") && min(&later, "q") > min(&first, "q"));
}

#[test]
fn a_tracer_is_carried_without_loss_and_without_new_extrema() {
    let name = "tracer_advection";
    let (first, later) = (ran(name, "numpy", None, 1), ran(name, "numpy", None, 300));
    assert_same(mean(&first, "q_out"), mean(&later, "q_out"));
    assert!(
        min(&later, "q_out") > -1e-3 && max(&later, "q_out") < 1.0 + 1e-3,
        "{:?}",
        later[0].info.statistics
    );
}

#[test]
fn a_front_of_burgers_keeps_its_sum_and_its_bounds() {
    let (first, later) = (ran("burgers", "numpy", None, 1), ran("burgers", "numpy", None, 200));
    assert_same(mean(&first, "u_out"), mean(&later, "u_out"));
    assert!(max(&later, "u_out") <= max(&first, "u_out") + 1e-12);
}

#[test]
fn damping_takes_divergence_away_and_leaves_the_mean_wind() {
    let name = "divergence_damping";
    let (first, later) = (ran(name, "numpy", None, 1), ran(name, "numpy", None, 100));
    assert!(max(&later, "divergence") < 0.05 * max(&first, "divergence"));
    assert!((mean(&first, "u_out") - mean(&later, "u_out")).abs() < 1e-14);
    // The vortex is still there.
    assert!(max(&later, "v_out") > 0.9);
}

#[test]
fn water_of_a_column_is_vapour_cloud_rain_or_lies_on_the_ground() {
    let name = "sedimentation";
    // Each level has 2000 Pa, so 2000 / g kg on each square metre; the ground counts kg on each.
    let total = |fields: &[ResultField]| {
        let levels = fields.iter().find(|it| it.info.name == "qv").unwrap().info.domain[2];
        #[expect(clippy::cast_precision_loss, reason = "some tens of levels")]
        let weight = 2000.0 / 9.80665 * levels as f64;
        weight * (mean(fields, "qv") + mean(fields, "qc") + mean(fields, "qr")) + mean(fields, "ground")
    };
    let (first, later) = (ran(name, "numpy", None, 1), ran(name, "numpy", None, 60));
    assert_same(total(&first), total(&later));
    let rain = [mean(&first, "ground"), mean(&later, "ground"), min(&later, "qr")];
    assert!(rain[1] > 10.0 * rain[0] && rain[2] >= 0.0, "{rain:?}");
}

#[test]
fn a_remap_keeps_the_thickness_and_the_mass_of_a_column() {
    let fields = ran("ppm_remap", "numpy", None, 0);
    let values = |name: &str, at| {
        let field = fields.iter().find(|it| it.info.name == name).unwrap();
        field.plane(Plane { across: Across::K, at, element: 0, has_halo: false }).unwrap().values
    };
    let zeros = vec![0.0; 48 * 48];
    let (mut thickness, mut mass) = (zeros.clone(), zeros);
    for k in 0..40 {
        for (at, (dp, q)) in values("dp_out", k).into_iter().zip(values("q_out", k)).enumerate() {
            assert!(dp > 0.0 && (-0.01..1.21).contains(&q), "{dp} {q}");
            thickness[at] += dp;
            mass[at] += dp * q;
        }
    }
    assert!(thickness.iter().all(|it| (it - 40.0 * 2500.0).abs() < 1e-6));
    // A remap to the same levels changes nothing, so its sums are those of the input.
    let still = |it: &str| {
        if it.starts_with("# @input moved ") {
            "# @input moved constant(0)".to_owned()
        } else {
            it.to_owned()
        }
    };
    let same = text("ppm_remap").lines().map(still).collect::<Vec<_>>().join("\n");
    let request = Request {
        files: [("main.py".to_owned(), same)].into(),
        backend: Some("numpy".to_owned()),
        ..Request::default()
    };
    let (before, _) = Compiler::default().run(&request, &|| 0.0, &mut |_, _| {}).unwrap();
    let q = before.iter().find(|it| it.info.name == "q_out").unwrap();
    let mut expected = vec![0.0; 48 * 48];
    for k in 0..40 {
        let plane = q.plane(Plane { across: Across::K, at: k, element: 0, has_halo: false }).unwrap().values;
        for (sum, value) in expected.iter_mut().zip(plane) {
            *sum += 2500.0 * value;
        }
    }
    for (found, expected) in mass.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found} {expected}");
    }
}

#[test]
fn sound_stays_in_its_column() {
    let (first, later) =
        (ran("acoustic_column", "numpy", None, 1), ran("acoustic_column", "numpy", None, 50));
    let (first, later) = (mean(&first, "p"), mean(&later, "p"));
    assert!((first - later).abs() < 1e-9 * first.abs(), "{first} {later}");
}

#[test]
fn a_smoother_spares_waves_and_the_ground_warms_to_its_surface() {
    let (first, later) = (ran("smoother", "numpy", None, 1), ran("smoother", "numpy", None, 20));
    let smooth = [max(&first, "q_out"), max(&later, "q_out"), min(&later, "q_out")];
    assert!(smooth[0] < 1.3 && smooth[1] > 0.8 && smooth[2] > -0.2, "{smooth:?}");
    let ground = ran("thomas", "numpy", None, 200);
    let warmest = max(&ground, "t_out");
    assert!(warmest <= 35.0 && warmest > 15.0, "{warmest}");
}

#[test]
fn the_hunt_has_something_to_find() {
    let fields = ran("nan_hunt", "numpy", None, 0);
    let nan = |name: &str| fields.iter().find(|it| it.info.name == name).unwrap().info.statistics.nan;
    assert!(nan("frequency") > 0 && nan("mixed") > nan("frequency"));
}
