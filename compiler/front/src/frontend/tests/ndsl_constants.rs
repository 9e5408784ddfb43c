//! The physical constants, in each set and precision.

use super::value_in;
use crate::config::{Config, ConstantSet};
use crate::frontend::constants::Constant;
use crate::types::Value;

fn constant(name: &str, set: ConstantSet, precision: u32) -> Constant {
    let config = Config { constants: set, ..Config::with_precision(precision) };
    let text = format!("from ndsl.constants import {name} as it\n");
    value_in(&[("main.py", &text)], &config, "it").unwrap()
}

fn double(name: &str, set: ConstantSet) -> f64 {
    match constant(name, set, 64) {
        Constant::Typed(Value::Float64(it)) => it,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn each_set_has_its_own_values() {
    for (name, ufs, gfdl, geos) in [
        ("GRAV", 9.80665, 9.8, 9.80665),
        ("RADIUS", 6_371_200.0, 6_371_000.0, 6_371_000.0),
        ("OMEGA", 7.2921e-5, 7.292e-5, 2.0 * std::f64::consts::PI / 86164.0),
        ("RDGAS", 287.05, 287.04, 8314.47 / 28.965),
        ("RVGAS", 461.5, 461.5, 8314.47 / 18.015),
        ("HLV", 2.5e6, 2.5e6, 2_466_500.0),
        ("HLF", 333_580.0, 334_000.0, 333_700.0),
        (
            "CP_AIR",
            1004.6,
            287.04 / (2.0 / 7.0),
            double("RDGAS", ConstantSet::Geos) / double("KAPPA", ConstantSet::Geos),
        ),
        ("TFREEZE", 273.15, 273.16, 273.16),
        ("SAT_ADJUST_THRESHOLD", 1e-8, 1e-8, 1e-6),
        ("DZ_MIN", 2.0, 2.0, 6.0),
        ("TICE", 273.16, 273.16, 273.16),
    ] {
        let found = ConstantSet::ALL.map(|set| double(name, set).to_bits());
        assert_eq!(found, [ufs, gfdl, geos].map(f64::to_bits), "{name}");
    }
    let counts = ConstantSet::ALL.map(|set| constant("NQ", set, 64));
    assert_eq!(counts, [Constant::Int(8), Constant::Int(8), Constant::Int(9)]);
}

#[test]
fn what_follows_from_others_follows_in_every_set() {
    for set in ConstantSet::ALL {
        let it = |name: &str| double(name, set);
        for (name, expected) in [
            ("RGRAV", 1.0 / it("GRAV")),
            ("KAPPA", it("RDGAS") / it("CP_AIR")),
            ("CV_AIR", it("CP_AIR") - it("RDGAS")),
            ("ZVIR", it("RVGAS") / it("RDGAS") - 1.0),
            ("LI00", it("HLF") - it("DC_ICE") * it("TICE")),
            ("LV0", it("HLV") - it("DC_VAP") * it("TICE")),
            ("LI2", it("LV0") + it("LI00")),
        ] {
            assert!((it(name) / expected - 1.0).abs() < 1e-15, "{name} of {}", set.name());
        }
    }
}

#[test]
fn a_single_precision_is_used_for_every_step() {
    let Constant::Typed(Value::Float32(found)) = constant("RDG", ConstantSet::Gfdl, 32) else {
        panic!("it has the type `Float`");
    };
    assert_eq!(found.to_bits(), (-287.04_f32 / 9.8_f32).to_bits());
    assert_eq!(constant("CNST_0P20", ConstantSet::Gfdl, 32), Constant::Typed(Value::Float64(0.2)));
}
