//! The physical constants that NDSL's models share, in the three sets that it has.
//!
//! Almost all have the type `Float`: derived ones are computed in that precision, step by step as NDSL does.

use super::constants::Constant;
use crate::config::{Config, ConstantSet};
use crate::types::{DType, Value};

/// The names that all sets have, related ones side by side.
pub(super) const NAMES: [&str; 47] = [
    "PI",
    "RADIUS",
    "OMEGA",
    "GRAV",
    "RGRAV",
    "RDGAS",
    "RVGAS",
    "RDG",
    "CP_AIR",
    "CP_VAP",
    "CV_AIR",
    "CV_VAP",
    "C_LIQ",
    "C_ICE",
    "C_ICE_0",
    "KAPPA",
    "K1K",
    "ZVIR",
    "EPS",
    "EPSM1",
    "HLV",
    "HLF",
    "TICE",
    "TICE0",
    "TTP",
    "TFREEZE",
    "T_MIN",
    "T_WFR",
    "T_SAT_MIN",
    "DC_VAP",
    "DC_ICE",
    "D2ICE",
    "LI0",
    "LI00",
    "LV0",
    "LI2",
    "LAT2",
    "E00",
    "PSAT",
    "DZ_MIN",
    "SBC",
    "RHO_H2O",
    "SECONDS_PER_DAY",
    "SAT_ADJUST_THRESHOLD",
    "NQ",
    "N_HALO_DEFAULT",
    "CNST_0P20",
];

/// The constant of `ndsl.constants` that has this name.
pub(super) fn value(name: &str, config: &Config) -> Option<Constant> {
    match name {
        "NQ" => return Some(Constant::Int(if config.constants == ConstantSet::Geos { 9 } else { 8 })),
        "N_HALO_DEFAULT" => return Some(Constant::Int(3)),
        "CNST_0P20" => return Some(Constant::Typed(Value::Float64(0.2))),
        "PI_8" if config.constants == ConstantSet::Geos => {
            return Some(Constant::Typed(Value::Float64(std::f64::consts::PI)));
        }
        _ => {}
    }
    Some(Constant::Typed(match config.literal_float {
        DType::Float32 => Value::Float32(Base32::of(config.constants).value(name)?),
        _ => Value::Float64(Base64::of(config.constants).value(name)?),
    }))
}

/// The constants that differ between the sets, and those derived from them, in one precision.
macro_rules! constants_in {
    ($name:ident, $float:ident) => {
        #[derive(Clone, Copy, Debug)]
        struct $name {
            radius: $float,
            omega: $float,
            grav: $float,
            rdgas: $float,
            rvgas: $float,
            hlv: $float,
            hlf: $float,
            kappa: $float,
            cp_air: $float,
            tfreeze: $float,
            sat_adjust_threshold: $float,
            dz_min: $float,
        }

        impl $name {
            const PI: $float = std::$float::consts::PI;

            fn of(set: ConstantSet) -> Self {
                match set {
                    ConstantSet::Ufs => Self {
                        radius: 6.3712e6,
                        omega: 7.2921e-5,
                        grav: 9.80665,
                        rdgas: 287.05,
                        rvgas: 461.50,
                        hlv: 2.5e6,
                        hlf: 3.3358e5,
                        kappa: 287.05 / 1004.6,
                        cp_air: 1004.6,
                        tfreeze: 273.15,
                        sat_adjust_threshold: 1.0e-8,
                        dz_min: 2.0,
                    },
                    ConstantSet::Gfdl => {
                        let (rdgas, kappa): ($float, $float) = (287.04, 2.0 / 7.0);
                        Self {
                            radius: 6371.0e3,
                            omega: 7.292e-5,
                            grav: 9.80,
                            rdgas,
                            rvgas: 461.50,
                            hlv: 2.5e6,
                            hlf: 3.34e5,
                            kappa,
                            cp_air: rdgas / kappa,
                            tfreeze: 273.16,
                            sat_adjust_threshold: 1.0e-8,
                            dz_min: 2.0,
                        }
                    }
                    ConstantSet::Geos => {
                        let rdgas: $float = 8314.47 / 28.965;
                        let kappa = rdgas / (3.5 * rdgas);
                        Self {
                            radius: 6.371e6,
                            omega: 2.0 * Self::PI / 86164.0,
                            grav: 9.80665,
                            rdgas,
                            rvgas: 8314.47 / 18.015,
                            hlv: 2.4665e6,
                            hlf: 3.3370e5,
                            kappa,
                            cp_air: rdgas / kappa,
                            tfreeze: 273.16,
                            sat_adjust_threshold: 1.0e-6,
                            dz_min: 6.0,
                        }
                    }
                }
            }

            fn value(self, name: &str) -> Option<$float> {
                let Self { grav, rdgas, rvgas, hlv, hlf, cp_air, .. } = self;
                let (tice, c_liq, c_ice): ($float, $float, $float) = (273.16, 4.1855e3, 1972.0);
                let (cv_air, cp_vap) = (cp_air - rdgas, 4.0 * rvgas);
                let (dc_ice, dc_vap) = (c_liq - c_ice, cp_vap - c_liq);
                let (li00, lv0, eps) = (hlf - dc_ice * tice, hlv - dc_vap * tice, rdgas / rvgas);
                Some(match name {
                    "PI" => Self::PI,
                    "RADIUS" => self.radius,
                    "OMEGA" => self.omega,
                    "GRAV" => grav,
                    "RGRAV" => 1.0 / grav,
                    "RDGAS" => rdgas,
                    "RVGAS" => rvgas,
                    "RDG" => -rdgas / grav,
                    "CP_AIR" => cp_air,
                    "CP_VAP" => cp_vap,
                    "CV_AIR" => cv_air,
                    "CV_VAP" => 3.0 * rvgas,
                    "C_LIQ" => c_liq,
                    "C_ICE" => c_ice,
                    "C_ICE_0" => 2106.0,
                    "KAPPA" => self.kappa,
                    "K1K" => rdgas / cv_air,
                    "ZVIR" => rvgas / rdgas - 1.0,
                    "EPS" => eps,
                    "EPSM1" => eps - 1.0,
                    "HLV" => hlv,
                    "HLF" => hlf,
                    "TICE" | "TTP" => tice,
                    "TICE0" => 273.15,
                    "TFREEZE" => self.tfreeze,
                    "T_MIN" => 178.0,
                    "T_WFR" => tice - 40.0,
                    "T_SAT_MIN" => tice - 160.0,
                    "DC_VAP" => dc_vap,
                    "DC_ICE" => dc_ice,
                    "D2ICE" => dc_vap + dc_ice,
                    "LI0" | "LI00" => li00,
                    "LV0" => lv0,
                    "LI2" => lv0 + li00,
                    "LAT2" => (hlv + hlf) * (hlv + hlf),
                    "E00" => 611.21,
                    "PSAT" => 610.78,
                    "DZ_MIN" => self.dz_min,
                    "SBC" => 5.670_4e-8,
                    "RHO_H2O" => 1000.0,
                    "SECONDS_PER_DAY" => 86400.0,
                    "SAT_ADJUST_THRESHOLD" => self.sat_adjust_threshold,
                    _ => return None,
                })
            }
        }
    };
}

constants_in!(Base32, f32);
constants_in!(Base64, f64);
