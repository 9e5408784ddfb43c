//! Makes up inputs for fields and scalars that have none.
//!
//! A name that has a meaning in atmospheric models gets values of that meaning. Every other name gets numbers
//! near one, whose logarithms, roots and quotients stay finite.
//!
//! A pasted text runs with these inputs. They are shown as made up, and they travel in a request like typed
//! ones. The computing side reads generators and knows none of these names.
//!
//! ```text
//! delp       FloatField     linear(low=300, high=1200, along=k) with a hill on it
//! rarea      FloatFieldIJ   near 1e-10
//! mask       BoolField      checker(low=0, high=1, cells=4)
//! ```

use super::{Directives, Generator};
use crate::call::launch::ScalarInput;
use crate::call::signature::{AccessKind, Param, ParamKind, Signature};
use crate::config::External;
use crate::conventions;
use crate::space::{Axis, AxisSet};
use crate::types::DType;

/// The generators of all fields of a signature that are read and have none in `directives`.
#[must_use]
pub fn fields(signature: &Signature, directives: &Directives) -> Vec<(String, Generator)> {
    let lacks = |it: &&Param| {
        let is_read = !matches!(it.access, AccessKind::None | AccessKind::Write);
        is_read && directives.input(&it.name).is_none()
    };
    // FV3 counts heights downward, and speaks of mass and pressure beside them.
    let is_of_fv3 = signature.params.iter().any(|it| OF_FV3.contains(&it.name.as_str()));
    let made = signature.params.iter().filter(lacks).filter_map(|param| match &param.kind {
        ParamKind::Field { axes, dtype, .. } => {
            let generator = match role(&param.name) {
                Some(FieldRole::HeightThickness) if is_of_fv3 => {
                    FieldRole::NegativeThickness.generator(*axes)
                }
                _ => field(&param.name, *axes, *dtype),
            };
            Some((param.name.clone(), generator))
        }
        ParamKind::Scalar { .. } => None,
    });
    made.collect()
}

/// Fields beside which `dz` is FV3's.
const OF_FV3: [&str; 6] = ["delp", "delz", "dm", "pem", "delpc", "cappa"];

/// The values of all scalars of a signature that have neither a default nor one in `directives`.
#[must_use]
pub fn scalars(signature: &Signature, directives: &Directives) -> Vec<(String, ScalarInput)> {
    let lacks = |it: &&Param| {
        it.access != AccessKind::None && directives.scalars.iter().all(|given| given.name != it.name)
    };
    let made = signature.params.iter().filter(lacks).filter_map(|param| match &param.kind {
        ParamKind::Scalar { dtype, default: None } => Some((param.name.clone(), scalar(&param.name, *dtype))),
        ParamKind::Scalar { .. } | ParamKind::Field { .. } => None,
    });
    made.collect()
}

/// A plausible value of a scalar parameter.
#[must_use]
pub fn scalar(name: &str, dtype: DType) -> ScalarInput {
    let known = conventions::number(name);
    #[expect(clippy::cast_precision_loss, reason = "conventional integers are small")]
    match (dtype, known) {
        (DType::Bool, Some(External::Bool(it))) => ScalarInput::Bool(it),
        (DType::Bool, _) => ScalarInput::Bool(true),
        (it, Some(External::Int(value))) if it.is_int() => ScalarInput::Int(value),
        (it, _) if it.is_int() => ScalarInput::Int(1),
        (_, Some(External::Float(value))) => ScalarInput::Float(value),
        (_, Some(External::Int(value))) => ScalarInput::Float(value as f64),
        _ => ScalarInput::Float(0.5),
    }
}

/// A plausible generator of a field.
#[must_use]
pub fn field(name: &str, axes: AxisSet, dtype: DType) -> Generator {
    let role = role(name);
    match dtype {
        DType::Bool => Generator::Checker { low: 0.0, high: 1.0, cells: 4.0 },
        it if it.is_int() => match role {
            // A level that is looked up has to be there.
            Some(FieldRole::Level) => Generator::Constant(1.0),
            Some(FieldRole::Mask) => Generator::Checker { low: 0.0, high: 1.0, cells: 4.0 },
            _ => Generator::Checker { low: 1.0, high: 2.0, cells: 4.0 },
        },
        _ => role.map_or_else(|| plain(axes), |it| it.generator(axes)),
    }
}

/// Near one, and nowhere the same.
fn plain(axes: AxisSet) -> Generator {
    let column = Generator::Linear { low: 0.8, high: 1.2, along: Axis::K };
    let plane = Generator::Wave { low: -0.2, high: 0.2, cycles: [1.0, 1.0, 0.0] };
    match (has_plane(axes), axes.has(Axis::K)) {
        (true, true) => Generator::Sum(vec![column, plane]),
        (false, true) => column,
        (true, false) => Generator::Wave { low: 0.8, high: 1.2, cycles: [1.0, 1.0, 0.0] },
        (false, false) => Generator::Random { low: 0.5, high: 1.5, seed: 1 },
    }
}

fn has_plane(axes: AxisSet) -> bool {
    axes.has(Axis::I) || axes.has(Axis::J)
}

/// The role of a field in a model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FieldRole {
    /// Pressure difference across a layer, or mass: positive.
    Thickness,
    /// Pressure at interfaces, growing downward.
    Pressure,
    /// Its logarithm.
    LogPressure,
    /// It to the power of kappa.
    ExnerLike,
    SurfacePressure,
    Temperature,
    /// The height of a layer as FV3 has it: negative.
    NegativeThickness,
    /// The height of a layer: positive.
    HeightThickness,
    /// Height or geopotential at interfaces, falling with k.
    Height,
    Orography,
    WindI,
    WindJ,
    WindUp,
    /// Divergence and vorticity.
    Small,
    Courant,
    /// The flux through a face in a step, in square metres.
    AreaFlux,
    /// About this size everywhere: metric terms, heat capacities.
    Near(f64),
    /// Exactly this.
    Is(f64),
    Coriolis,
    Latitude,
    Longitude,
    /// Coefficients of the hybrid coordinate.
    HybridA,
    HybridB,
    Vapour,
    Condensate,
    Tracer,
    /// From 0 to 1.
    Fraction,
    Density,
    Level,
    Mask,
}

impl FieldRole {
    fn generator(self, axes: AxisSet) -> Generator {
        let wave = |low, high, i, j| Generator::Wave { low, high, cycles: [i, j, 0.0] };
        let down = |low, high| Generator::Linear { low, high, along: Axis::K };
        let hill = |low, high, at: [f64; 2]| Generator::Bell {
            low,
            high,
            at: [Some(at[0]), Some(at[1]), None],
            width: 0.15,
        };
        // A column of values with something to see in the plane.
        let layered = |low: f64, high: f64, above: f64| match (has_plane(axes), axes.has(Axis::K)) {
            (true, true) => Generator::Sum(vec![down(low, high), hill(0.0, above, [0.5, 0.5])]),
            (false, _) => down(low, high),
            (true, false) => hill(high - above, high, [0.5, 0.5]),
        };
        // A generator that varies in the plane, or the mean where the field has no plane.
        let flat = |of_plane: Generator, mean: f64| {
            if has_plane(axes) { of_plane } else { Generator::Constant(mean) }
        };
        match self {
            FieldRole::Thickness => layered(300.0, 1200.0, 60.0),
            FieldRole::Pressure => layered(10_000.0, 100_000.0, 500.0),
            FieldRole::LogPressure => layered(9.2, 11.5, 0.01),
            FieldRole::ExnerLike => layered(14.0, 27.0, 0.05),
            FieldRole::SurfacePressure => flat(hill(98_000.0, 101_000.0, [0.5, 0.5]), 1.0e5),
            FieldRole::Temperature => layered(220.0, 295.0, 5.0),
            FieldRole::NegativeThickness => layered(-1500.0, -200.0, -20.0),
            FieldRole::HeightThickness => layered(1500.0, 200.0, 20.0),
            FieldRole::Height => layered(30_000.0, 500.0, 300.0),
            FieldRole::Orography => flat(hill(0.0, 1500.0, [0.5, 0.5]), 100.0),
            FieldRole::WindI => flat(wave(-5.0, 15.0, 0.0, 1.0), 5.0),
            FieldRole::WindJ => flat(wave(-8.0, 8.0, 1.0, 0.0), 2.0),
            FieldRole::WindUp => flat(wave(-1.0, 1.0, 1.0, 1.0), 0.5),
            FieldRole::Small => flat(wave(-1.0e-4, 1.0e-4, 1.0, 1.0), 1.0e-5),
            FieldRole::Courant => flat(wave(-0.4, 0.4, 1.0, 1.0), 0.2),
            FieldRole::AreaFlux => flat(wave(-4.0e8, 4.0e8, 1.0, 1.0), 1.0e8),
            FieldRole::Near(value) => flat(wave(short(value * 0.98), short(value * 1.02), 1.0, 1.0), value),
            FieldRole::Is(value) => Generator::Constant(value),
            FieldRole::Coriolis => Generator::Linear { low: -1.0e-4, high: 1.2e-4, along: Axis::J },
            FieldRole::Latitude => Generator::Linear { low: -1.2, high: 1.2, along: Axis::J },
            FieldRole::Longitude => Generator::Linear { low: 0.1, high: 6.2, along: Axis::I },
            FieldRole::HybridA => Generator::Linear { low: 2000.0, high: 0.0, along: Axis::K },
            FieldRole::HybridB => Generator::Linear { low: 0.0, high: 1.0, along: Axis::K },
            FieldRole::Vapour => layered(1.0e-4, 0.012, 0.002),
            FieldRole::Condensate => flat(hill(0.0, 2.0e-4, [0.4, 0.6]), 1.0e-5),
            FieldRole::Tracer => flat(hill(0.0, 1.0, [0.4, 0.6]), 0.5),
            FieldRole::Fraction => flat(hill(0.0, 1.0, [0.6, 0.4]), 0.5),
            FieldRole::Density => layered(0.2, 1.1, 0.02),
            FieldRole::Level => Generator::Constant(1.0),
            FieldRole::Mask => flat(Generator::Checker { low: 0.0, high: 1.0, cells: 4.0 }, 1.0),
        }
    }
}

/// The number with three digits behind the first: people read these.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Words that say how a field is used and not what it is: `u_in`, `delp_out`, `pt_t0`.
const BESIDE: [&str; 22] = [
    "in",
    "out",
    "new",
    "old",
    "initial",
    "init",
    "copy",
    "tmp",
    "t0",
    "t1",
    "adv",
    "internal",
    "interface",
    "total",
    "field",
    "input",
    "output",
    "updated",
    "physics",
    "center",
    "contra",
    "srf",
];

/// The role that a name suggests, if any.
fn role(name: &str) -> Option<FieldRole> {
    let lower = name.to_ascii_lowercase();
    if let Some(found) = role_of_word(&lower) {
        return Some(found);
    }
    let words: Vec<&str> = lower.split('_').filter(|it| !it.is_empty() && !BESIDE.contains(it)).collect();
    if let Some(found) = role_of_word(&words.join("_")) {
        return Some(found);
    }
    // `sin_sg1`, `pe2`, `delp3`.
    let digits = |it: char| it.is_ascii_digit();
    let joined = words.join("_");
    if let Some(found) = role_of_word(joined.trim_end_matches(digits).trim_end_matches('_')) {
        return Some(found);
    }
    // The last word that says something: `u_contra_dxc` is a length, `damp_vt` damps.
    if let Some(found) = role_of_part(&lower) {
        return Some(found);
    }
    words.iter().find_map(|it| role_of_word(it.trim_end_matches(digits)))
}

fn role_of_part(name: &str) -> Option<FieldRole> {
    let has = |word: &str| name.contains(word);
    Some(match name {
        _ if has("mask") => FieldRole::Mask,
        _ if has("temperature") || has("theta") => FieldRole::Temperature,
        _ if has("area_flux") => FieldRole::AreaFlux,
        _ if has("mass_flux") || has("flux") => FieldRole::Small,
        _ if has("courant") => FieldRole::Courant,
        _ if has("pressure") => FieldRole::Pressure,
        _ if has("humidity") || has("vapor") || has("vapour") => FieldRole::Vapour,
        _ if has("fraction") => FieldRole::Fraction,
        _ if has("vort") || has("div") => FieldRole::Small,
        _ if has("velocity") || has("wind") => FieldRole::WindI,
        _ if has("height") => FieldRole::Height,
        _ if has("density") => FieldRole::Density,
        _ if has("index") || has("level") => FieldRole::Level,
        _ if has("rain") || has("snow") || has("graupel") || has("liquid") || has("cloud") => {
            FieldRole::Condensate
        }
        _ if name.starts_with("damp") || name.ends_with("damp") => FieldRole::Is(0.05),
        _ if name.starts_with("rarea") => FieldRole::Near(1.0e-10),
        _ if name.starts_with("area") => FieldRole::Near(1.0e10),
        _ if name.starts_with("cos") => FieldRole::Is(0.05),
        _ if name.starts_with("rsin") => FieldRole::Near(1.02),
        _ if name.starts_with("sin") => FieldRole::Near(0.98),
        _ if name.starts_with("edge_") => FieldRole::Is(0.5),
        // Unit vectors.
        _ if name.starts_with("es1") || name.starts_with("ew2") || name.starts_with("vl") => {
            FieldRole::Near(0.6)
        }
        _ => return None,
    })
}

fn role_of_word(word: &str) -> Option<FieldRole> {
    Some(match word {
        "delp" | "delpc" | "dp" | "dm" | "mass" | "delta_mass" | "dpm" | "dp_ref" | "delta_p_ref"
        | "delta_p" | "del_p" | "m1" => FieldRole::Thickness,
        "p" | "pe" | "pem" | "pef" | "prsi" | "plev" | "play" | "pm" | "p_gas" | "prsl" | "pfull"
        | "phalf" | "pmid" | "pint" | "pressure" | "prs" => FieldRole::Pressure,
        "peln" | "pn" | "log_p" | "lnp" | "logp" => FieldRole::LogPressure,
        "pk" | "pkz" | "pkc" | "prsik" | "exner" | "pii" => FieldRole::ExnerLike,
        "ps" | "psfc" | "p_surf" | "surface_pressure" => FieldRole::SurfacePressure,
        "t" | "pt" | "ptc" | "ta" | "tz" | "tgrs" | "gt" | "temp" | "temperature" | "theta" | "th"
        | "tsfc" | "tsk" | "tk" | "thl" | "t_air" | "tabs" | "to" => FieldRole::Temperature,
        "delz" => FieldRole::NegativeThickness,
        "dz" | "dzs" | "layer_thickness" => FieldRole::HeightThickness,
        "gz" | "z" | "zh" | "zm" | "zi" | "phi" | "phii" | "phil" | "geopotential" | "height" | "zfull"
        | "zhalf" => FieldRole::Height,
        "hs" | "zs" | "phis" | "oro" | "orography" | "topo" | "topography" | "surface_height" | "zsurf" => {
            FieldRole::Orography
        }
        "u" | "ua" | "uc" | "ut" | "utc" | "ub" | "utmp" | "uin" | "ue" | "velocity" | "wind" => {
            FieldRole::WindI
        }
        "v" | "va" | "vc" | "vt" | "vtc" | "vb" | "vtmp" | "vin" | "ve" => FieldRole::WindJ,
        "w" | "wc" | "ws" | "omga" | "omega" => FieldRole::WindUp,
        "u_dt" | "v_dt" | "udt" | "vdt" | "pt_dt" | "t_dt" | "qv_dt" | "heat_source" | "divg" | "divg_d"
        | "vort" | "ke_bg" | "diss_est" | "diss_estd" | "fx" | "fy" | "mfx" | "mfy" | "mfxd" | "mfyd" => {
            FieldRole::Small
        }
        "crx" | "cry" | "cx" | "cy" | "cxd" | "cyd" | "courant" | "cfl" => FieldRole::Courant,
        "xfx" | "yfx" => FieldRole::AreaFlux,
        "dx" | "dy" | "dxa" | "dya" | "dxc" | "dyc" => FieldRole::Near(1.0e5),
        "rdx" | "rdy" | "rdxa" | "rdya" | "rdxc" | "rdyc" => FieldRole::Near(1.0e-5),
        "area" | "area_c" => FieldRole::Near(1.0e10),
        "rarea" | "rarea_c" => FieldRole::Near(1.0e-10),
        "del6_u" | "del6_v" | "divg_u" | "divg_v" | "a11" | "a22" | "rsin2" => FieldRole::Near(1.0),
        "a12" | "a21" => FieldRole::Is(0.02),
        "f" | "f0" | "fc" | "coriolis" => FieldRole::Coriolis,
        "lat" | "lat_agrid" | "latitude" => FieldRole::Latitude,
        "lon" | "lon_agrid" | "longitude" => FieldRole::Longitude,
        "ak" | "a_k" => FieldRole::HybridA,
        "bk" | "b_k" => FieldRole::HybridB,
        "cappa" => FieldRole::Near(0.285),
        "cvm" => FieldRole::Near(720.0),
        "cpm" | "cp" => FieldRole::Near(1005.0),
        "qv" | "qvapor" | "qvz" | "qvap" | "sphum" | "vapor" => FieldRole::Vapour,
        "qc" | "ql" | "qi" | "qr" | "qs" | "qg" | "qn" | "qliquid" | "qice" | "qrain" | "qsnow"
        | "qgraupel" | "qlz" | "qiz" | "qrz" | "qsz" | "qgz" | "q_con" | "q_liq" | "q_ice" | "rain"
        | "snow" | "ice" | "graupel" | "liquid" => FieldRole::Condensate,
        "q" | "qin" | "qx" | "qy" | "qgrs" | "gq" | "tracer" | "qtracer" | "qo" | "qsgs_tke" | "qo3mr" => {
            FieldRole::Tracer
        }
        "qa" | "qaz" | "qcld" | "cld" | "frac" | "land" | "fraction" => FieldRole::Fraction,
        "den" | "rho" | "density" => FieldRole::Density,
        "denfac" => FieldRole::Near(1.2),
        "ccn" => FieldRole::Near(1.0e8),
        "h_var" => FieldRole::Is(0.1),
        "nord" => FieldRole::Is(2.0),
        "d2_bg" | "dcon" | "gamma" | "smag_c" => FieldRole::Is(0.1),
        // The diagonal of a tridiagonal matrix, which has to outweigh what is beside it.
        "b" | "diag" | "diagonal" => FieldRole::Near(4.0),
        "k" | "kk" | "klev" | "lev" | "level" | "k_select" | "k_mask" | "index" => FieldRole::Level,
        _ if word.starts_with("mask") || word.ends_with("mask") => FieldRole::Mask,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{parse, value_at};
    use crate::space::Domain;

    fn made(name: &str, axes: AxisSet) -> Generator {
        field(name, axes, DType::Float64)
    }

    #[test]
    fn names_of_models_have_values_of_their_size() {
        let domain = Domain::new(8, 8, 10);
        for (name, axes, low, high) in [
            ("delp", AxisSet::IJK, 200.0, 1400.0),
            ("pe2", AxisSet::IJK, 1000.0, 2.0e5),
            ("pt_in", AxisSet::IJK, 150.0, 350.0),
            ("rarea", AxisSet::IJ, 0.9e-10, 1.1e-10),
            ("sin_sg4", AxisSet::IJ, 0.9, 1.1),
            ("ak", AxisSet::K, -300.0, 2300.0),
            ("physics_updated_specific_humidity", AxisSet::IJK, -0.01, 0.02),
            ("qliquid_t0", AxisSet::IJK, 0.0, 0.001),
            ("nothing_that_is_known", AxisSet::IJK, 0.4, 1.6),
        ] {
            let generator = made(name, axes);
            for point in [[-3, -3, -1], [0, 0, 0], [4, 4, 5], [10, 10, 10]] {
                let value = value_at(&generator, point, domain);
                assert!((low..=high).contains(&value), "{name} at {point:?}: {value}");
            }
        }
    }

    #[test]
    fn thickness_pressure_and_density_are_positive_wherever_a_stencil_reaches() {
        for name in ["delp", "pe", "ps", "pt", "dz", "rho", "area", "anything"] {
            for point in [[-3, -3, -1], [11, 11, 10], [4, 4, 0]] {
                let value = value_at(&made(name, AxisSet::IJK), point, Domain::new(8, 8, 10));
                assert!(value > 0.0, "{name} at {point:?}: {value}");
            }
        }
    }

    #[test]
    fn what_is_made_can_be_written_down_and_read_back() {
        for name in ["delp", "u", "ua_out", "mask", "cosa_s", "q", "lat", "bk", "something", "k_select"] {
            for axes in [AxisSet::IJK, AxisSet::IJ, AxisSet::K] {
                for dtype in [DType::Float64, DType::Bool, DType::Int32] {
                    let generator = field(name, axes, dtype);
                    assert_eq!(parse::generator(&generator.to_string()), Ok(generator), "{name}");
                }
            }
        }
    }

    #[test]
    fn a_field_of_levels_varies_along_k_alone() {
        for name in ["ak", "delp", "u", "other", "nord"] {
            let at = |i| value_at(&made(name, AxisSet::K), [i, i, 3], Domain::new(8, 8, 10));
            assert!((at(0) - at(5)).abs() < f64::EPSILON, "{name}");
        }
    }

    #[test]
    fn a_scalar_has_a_value_of_its_type() {
        assert_eq!(scalar("dt", DType::Float64), ScalarInput::Float(225.0));
        assert_eq!(scalar("nord", DType::Float64), ScalarInput::Float(2.0));
        assert_eq!(scalar("n_split", DType::Int32), ScalarInput::Int(1));
        assert_eq!(scalar("dt", DType::Bool), ScalarInput::Bool(true));
        assert_eq!(scalar("hydrostatic", DType::Bool), ScalarInput::Bool(false));
    }
}
