//! The part of the user's values that a request carries.

use std::collections::BTreeMap;

use isobar_protocol::compile::ScalarParam;
use isobar_protocol::worker::{DeclaredExternal, GuessedInputs};
use serde_json::Value;

use crate::values;

/// Those of the user's scalars that a run can use.
#[must_use]
pub fn usable_scalars(params: &[ScalarParam], chosen: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let read = |param: &ScalarParam| {
        let value = values::scalar(&values::spelled(chosen.get(&param.name)?), &param.dtype).ok()?;
        Some((param.name.clone(), value))
    };
    params.iter().filter_map(read).collect()
}

/// The user's externals that can be read. The others are shown as such, and the text's own values hold meanwhile.
#[must_use]
pub fn readable(externals: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let is_readable = |value: &Value| values::external(&values::spelled(value)).is_ok();
    let readable = externals.iter().filter(|(_, value)| is_readable(value));
    readable.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Leaves those out that the text does not declare.
pub fn keep_declared(externals: &mut BTreeMap<String, Value>, declared: &[DeclaredExternal]) {
    externals.retain(|name, _| declared.iter().any(|it| it.name == *name));
}

/// The user's generators that can be read.
#[must_use]
pub fn usable_inputs(
    inputs: &BTreeMap<String, String>,
    refused: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let usable = inputs.iter().filter(|(name, _)| !refused.contains_key(*name));
    usable.map(|(name, generator)| (name.clone(), generator.clone())).collect()
}

/// The number of fields, scalars and externals that the page chose because the user set none.
#[must_use]
pub fn n_made_up(made: &GuessedInputs, scalars: &BTreeMap<String, Value>) -> [usize; 3] {
    let n_scalars = made.scalars.keys().filter(|it| !scalars.contains_key(*it)).count();
    [made.init.len(), n_scalars, made.externals.len()]
}
