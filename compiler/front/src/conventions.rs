//! Conventional names of the numbers of atmospheric models, and their usual values.
//!
//! The page fills in these values where a user pastes a text without its inputs, and marks them.
//! A compilation with all its inputs does not read them.

use crate::config::External;

/// Switches by the start or the end of their name.
const SWITCHES: [&str; 10] =
    ["do_", "use_", "is_", "has_", "with_", "prog_", "fix_", "inline_", "fast_", "moist_"];

/// The usual value of a number with this name, of a scalar parameter or an external.
#[must_use]
pub fn number(name: &str) -> Option<External> {
    let lower = name.to_ascii_lowercase();
    if let Some(value) = integer(&lower) {
        return Some(External::Int(value));
    }
    if let Some(value) = switch(&lower) {
        return Some(External::Bool(value));
    }
    float(&lower).map(External::Float)
}

fn integer(name: &str) -> Option<i64> {
    Some(match name {
        // The orders of advection and of remapping that most experiments run with.
        "hord" | "hord_mt" | "hord_vt" | "hord_tm" | "hord_dp" | "hord_tr" | "iord" | "jord" | "mord"
        | "ord_x" | "ord_y" => 6,
        "kord" | "kord_tm" | "kord_mt" | "kord_wz" | "kord_tr" => 9,
        "nwat" | "nq" | "ntracers" => 6,
        "n_split" | "k_split" | "ntimes" | "n_times" | "niter" | "n_iter" | "iv" => 1,
        "nord" | "nord_v" | "nord_w" | "nord_t" | "current_nord" => 2,
        "grid_type" | "ntke" | "n_con" | "icloud_f" | "irain_f" | "n_sponge" => 0,
        "n_halo" | "nhalo" => 3,
        _ => return None,
    })
}

fn switch(name: &str) -> Option<bool> {
    Some(match name {
        "hydrostatic" | "nested" | "regional" | "stretched_grid" | "bounded_domain" | "z_tracer"
        | "d_ext" | "first_timestep" | "last_step" | "last_call" | "is_first" | "consv_te" | "use_logp"
        | "do_qa" | "const_vi" | "const_vg" | "const_vs" | "const_vr" => false,
        "z_slope_liq" | "z_slope_ice" | "sedi_transport" | "rad_rain" | "rad_snow" | "rad_graupel"
        | "de_ice" | "p_nonhydro" => true,
        _ if SWITCHES.iter().any(|it| name.starts_with(it)) => true,
        _ => return None,
    })
}

fn float(name: &str) -> Option<f64> {
    Some(match name {
        "bdt" => 1800.0,
        "dt" | "mdt" | "dts" | "dtm" | "sdt" | "dt2" | "dt4" | "dt5" | "dt_in" | "dtmp" | "absdt"
        | "dt_atmos" | "dt_acoustic" | "dt_rain" | "timestep" | "time_step" | "delta_t" | "deltat" => 225.0,
        "rdt" | "rdts" | "rdt2" => 1.0 / 225.0,
        "alpha" | "weight" | "ratio" | "fraction" | "omega_relax" => 0.5,
        "ptop" | "p_top" => 300.0,
        // `ptop` to the power of kappa, and its logarithm.
        "ptk" => 5.1,
        "peln1" => 5.7,
        "akap" | "kappa" | "cappa" | "rdg_cp" => 2.0 / 7.0,
        "zvir" | "r_vir" | "xvir" => 0.607_8,
        "grav" | "gravity" | "g" => 9.806_65,
        "rgrav" => 1.0 / 9.806_65,
        "rdgas" | "con_rd" => 287.05,
        "rvgas" | "con_rv" => 461.5,
        "cp" | "cp_air" | "con_cp" | "cpd" => 1004.6,
        "c_air" | "cv_air" => 717.55,
        "c_vap" | "cv_vap" => 1384.5,
        "d0_vap" | "dc_vap" => -2801.0,
        "lv00" | "lv0" => 3.14e6,
        "tice" | "tice0" | "t_ice" | "tfreeze" | "t0" => 273.16,
        "t_wfr" => 233.16,
        "t_min" | "t_sub" => 184.0,
        "t_max" => 343.0,
        "tau" | "rf_cutoff" | "rf_cutoff_nudge" => 3000.0,
        "p_fac" => 0.05,
        "dddmp" | "damp" | "damp_v" | "damp_w" | "damp_t" | "ke_bg" | "d_con" => 0.1,
        "da_min" | "da_min_c" => 1.0e10,
        "beta" | "d4_bg" | "d2_bg" => 0.15,
        "pi" => std::f64::consts::PI,
        "omega" => 7.292e-5,
        "radius" => 6.371_2e6,
        "big_number" => 1.0e30,
        "q_min" | "qmin" | "eps" | "epsilon" | "tiny" | "small" => 1.0e-9,
        "dw_land" | "dw_ocean" | "cld_min" => 0.1,
        "qi_gen" | "ql_gen" | "qi_lim" | "qi0_max" | "ql0_max" | "qs_mlt" | "ql_mlt" | "qi0_crt"
        | "qs0_crt" | "qc_crt" => 1.0e-3,
        "tintqs" | "rh_inc" | "rh_inr" => 0.25,
        "ccn_l" | "ccn_o" => 100.0,
        "vi_max" | "vs_max" | "vg_max" | "vr_max" => 5.0,
        "vi_fac" | "vs_fac" | "vg_fac" | "vr_fac" => 1.0,
        _ if name.starts_with("fac_") || name.starts_with("rate_") => 0.1,
        _ if name.starts_with("tau_") => 900.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_have_usual_values_of_the_kind_that_they_are_used_as() {
        assert_eq!(number("hord"), Some(External::Int(6)));
        assert_eq!(number("Hydrostatic"), Some(External::Bool(false)));
        assert_eq!(number("do_sedi_w"), Some(External::Bool(true)));
        assert_eq!(number("dt"), Some(External::Float(225.0)));
        assert_eq!(number("something_else"), None);
    }
}
