//! The golden data: stencils, inputs and results that another implementation computed.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Call, ScalarInput};
use isobar_compiler::config::{Config, External};
use isobar_compiler::space::Axis;
use isobar_compiler::types::Value;
use serde::Deserialize;

use crate::{root, ulp};

/// More bytes than any file of golden data holds.
const LIMIT: u64 = 1 << 22;

/// One file of results, with all that is needed to compute them again.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Below the folder of golden data.
    pub file: String,
    /// From the root of the repository.
    pub stencil_file: String,
    pub stencil: String,
    pub precision: u32,
    pub backend: String,
    pub domain: [i64; 3],
    pub min_levels: i64,
    pub origin: BTreeMap<String, Vec<i64>>,
    pub scalars: BTreeMap<String, Scalar>,
    pub externals: BTreeMap<String, serde_json::Value>,
    pub fields: BTreeMap<String, Field>,
    pub tolerance: BTreeMap<String, Tolerance>,
}

/// The facts that the other implementation found out about a field.
#[derive(Clone, Debug, Deserialize)]
pub struct Field {
    pub axes: String,
    pub dtype: String,
    /// `read`, `write` or `read_write`.
    pub access: String,
    /// Per axis, how many points are needed before and after the domain; may be negative.
    pub boundary: Vec<[i64; 2]>,
}

/// The value of a scalar parameter.
#[derive(Clone, Debug, Deserialize)]
pub struct Scalar {
    pub value: serde_json::Number,
}

/// How far a result may lie from the golden one.
#[derive(Clone, Debug, Deserialize)]
pub struct Tolerance {
    /// Units in the last place.
    pub ulp: u64,
    /// Whose last place: that of each `value`, or of the `largest` one of the field.
    pub of: String,
    pub reason: String,
}

#[derive(Deserialize)]
struct Manifest {
    cases: Vec<Case>,
}

/// All cases, in the order of the manifest.
///
/// # Errors
///
/// When the manifest cannot be read.
pub fn cases() -> Result<Vec<Case>> {
    let path = root().join("tests/golden/manifest.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    Ok(serde_json::from_str::<Manifest>(&text)?.cases)
}

impl Case {
    /// The text of the stencil.
    ///
    /// # Errors
    ///
    /// When there is no such file.
    pub fn source(&self) -> Result<String> {
        let path = root().join(&self.stencil_file);
        std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))
    }

    /// Precision and externals.
    ///
    /// # Errors
    ///
    /// When an external is of a kind that golden data does not use.
    pub fn config(&self) -> Result<Config> {
        let mut config = Config::with_precision(self.precision);
        for (name, value) in &self.externals {
            config.externals.insert(name.clone(), external(value)?);
        }
        Ok(config)
    }

    /// The arrays of the file: `in_q` and `out_q`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn arrays(&self) -> Result<BTreeMap<String, Array>> {
        let path = root().join("tests/golden").join(&self.file);
        let bytes = std::fs::read(&path).with_context(|| format!("{}", path.display()))?;
        isobar_runner::npz::read(&bytes, LIMIT).map_err(anyhow::Error::msg)
    }

    /// The call with the inputs of the file.
    #[must_use]
    pub fn call(&self, arrays: &BTreeMap<String, Array>) -> Call {
        let inputs = arrays.iter().filter_map(|(name, it)| Some((name.strip_prefix("in_")?, it)));
        let scalar = |it: &Scalar| match it.value.as_i64() {
            Some(value) => ScalarInput::Int(value),
            None => ScalarInput::Float(it.value.as_f64().unwrap_or(f64::NAN)),
        };
        Call {
            fields: inputs.map(|(name, it)| (name.to_owned(), it.clone())).collect(),
            scalars: self.scalars.iter().map(|(name, it)| (name.clone(), scalar(it))).collect(),
            domain: Some(self.domain),
            origin: self.origin.clone(),
        }
    }

    /// Compares a field after the run with the golden one, halo included.
    ///
    /// # Errors
    ///
    /// The first element that is too far off, with both values.
    pub fn compare(&self, field: &str, found: &Array, arrays: &BTreeMap<String, Array>) -> Result<()> {
        let golden = arrays.get(&format!("out_{field}")).context("no golden values")?;
        let tolerance = self.tolerance.get(field).context("no tolerance")?;
        if found.shape != golden.shape || found.dtype() != golden.dtype() {
            bail!("{} {:?} instead of {} {:?}", found.dtype(), found.shape, golden.dtype(), golden.shape);
        }
        let largest = golden.indices().map(|at| golden.get(&at).as_f64().abs()).fold(0.0, f64::max);
        let largest = Value::Float64(largest).cast(golden.dtype());
        let mut worst: Option<(u64, Vec<usize>)> = None;
        for at in golden.indices() {
            let (expected, found) = (golden.get(&at), found.get(&at));
            let distance = match tolerance.of.as_str() {
                "largest" => ulp::distance_at(expected, found, largest),
                _ => ulp::distance(expected, found),
            };
            if distance > tolerance.ulp && worst.as_ref().is_none_or(|(it, _)| distance > *it) {
                worst = Some((distance, at));
            }
        }
        let Some((distance, at)) = worst else { return Ok(()) };
        let (expected, found) = (golden.get(&at), found.get(&at));
        let allowed = tolerance.ulp;
        bail!(
            "{field}{at:?} is {found} instead of {expected}: {distance} ULP of the {}, {allowed} allowed",
            tolerance.of
        )
    }
}

fn external(value: &serde_json::Value) -> Result<External> {
    use serde_json::Value as Json;
    Ok(match value {
        Json::Bool(value) => External::Bool(*value),
        Json::Null => External::None,
        Json::Number(number) => match number.as_i64() {
            Some(value) => External::Int(value),
            None => External::Float(number.as_f64().context("a number")?),
        },
        Json::Object(position) => {
            let name = position.get("axis").and_then(Json::as_str).context("an axis")?;
            let axis = Axis::ALL.into_iter().find(|it| it.name() == name).context("I, J or K")?;
            let number = |key| position.get(key).and_then(Json::as_i64);
            External::Axis { axis, index: number("index"), offset: number("offset").unwrap_or(0) }
        }
        Json::String(_) | Json::Array(_) => bail!("{value} is no external"),
    })
}
