//! A call of a stencil: checked once, then trusted by every back end.

use std::collections::BTreeMap;
use std::ops::Range;

use super::array::Array;
use super::signature::{AccessKind, Param, ParamKind, Signature};
use crate::diag::Diagnostic;
use crate::diag::catalog::call;
use crate::space::{Axis, AxisSet, Domain};
use crate::types::{DType, Value};

/// The input of a caller; fields, scalars and origins by parameter name.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub fields: BTreeMap<String, Array>,
    pub scalars: BTreeMap<String, ScalarInput>,
    /// Inferred from the fields where it is missing: the largest that fits.
    pub domain: Option<[i64; 3]>,
    /// Index of the first point of the compute domain, per field; `_all_` for all others.
    /// Three entries, or one for each axis of the field, or one for each dimension of its array.
    pub origin: BTreeMap<String, Vec<i64>>,
}

/// A scalar as callers can write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarInput {
    /// Its type must be the declared one.
    Typed(Value),
    Bool(bool),
    /// Fits integer and floating parameters.
    Int(i64),
    /// Fits floating parameters.
    Float(f64),
}

/// As a message names it: `the integer 3`.
impl std::fmt::Display for ScalarInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ScalarInput::Typed(value) => write!(f, "{} of type {}", value.digits(), value.dtype()),
            ScalarInput::Bool(value) => write!(f, "the boolean {value}"),
            ScalarInput::Int(value) => write!(f, "the integer {value}"),
            ScalarInput::Float(value) => write!(f, "the number {value:?}"),
        }
    }
}

/// A checked call.
#[derive(Clone, Debug)]
pub struct Launch {
    pub domain: Domain,
    /// In the order of [`Signature::params`].
    pub arguments: Vec<Argument>,
}

/// The argument for one parameter.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The stencil does not use it.
    Unused,
    Scalar(Value),
    Field(FieldArgument),
}

/// A field of a call.
#[derive(Clone, Debug)]
pub struct FieldArgument {
    pub array: Array,
    /// Index of the first point of the compute domain along I, J, K; 0 along an axis that the field lacks. It may lie
    /// outside the array, where the stencil does not touch that point.
    pub origin: [i64; 3],
}

impl FieldArgument {
    /// Elements between neighbours along I, J, K, signed; 0 along an axis that the field lacks.
    #[must_use]
    pub fn strides(&self, axes: AxisSet) -> [i64; 3] {
        let mut strides = [0; 3];
        for (axis, &stride) in axes.iter().zip(&self.array.strides) {
            strides[axis.index()] = stride;
        }
        strides
    }

    /// Elements between neighbours along each data dimension.
    #[must_use]
    pub fn data_strides(&self, axes: AxisSet) -> &[i64] {
        self.array.strides.get(axes.len()..).unwrap_or_default()
    }

    /// How many levels the array has below the compute domain and above it; negative where it lacks some of those.
    #[must_use]
    pub fn levels_beside(&self, axes: AxisSet, domain: Domain) -> [i64; 2] {
        let Some(dimension) = axes.iter().position(|it| it == Axis::K) else { return [0, 0] };
        let below = self.origin[Axis::K.index()];
        let size = i64::try_from(self.array.shape[dimension]).unwrap_or(i64::MAX);
        [below, size - below - domain.k]
    }

    /// Swaps I and K, for a stencil whose I and K change places. No element is moved. A second call restores
    /// the field.
    pub fn turn(&mut self, axes: AxisSet) {
        let n = axes.len();
        // The dimensions for I, J, K become those for K, J, I, also where the field lacks some of the axes.
        if let (Some(shape), Some(strides)) = (self.array.shape.get_mut(..n), self.array.strides.get_mut(..n))
        {
            shape.reverse();
            strides.reverse();
        }
        self.origin.reverse();
    }

    /// Where among the elements the first point of the compute domain lies, or would lie where the array does not
    /// hold it.
    #[must_use]
    pub fn start(&self, axes: AxisSet) -> i64 {
        let origin = axes.iter().map(|axis| self.origin[axis.index()]);
        let behind = origin.zip(&self.array.strides).map(|(at, &stride)| at.saturating_mul(stride));
        behind.fold(i64::try_from(self.array.first).unwrap_or(i64::MAX), i64::saturating_add)
    }
}

impl Launch {
    /// Gives scalars other values; those that are not given take their default, or keep theirs.
    ///
    /// # Errors
    ///
    /// C01 where a value has another type than its parameter; then nothing is changed.
    pub fn set_scalars(
        &mut self,
        signature: &Signature,
        given: &BTreeMap<String, ScalarInput>,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut wrong = Vec::new();
        let mut arguments = Vec::new();
        for (at, param) in signature.params.iter().enumerate() {
            let ParamKind::Scalar { dtype, default } = &param.kind else { continue };
            let default = || Some(ScalarInput::Typed((*default)?));
            let Some(input) = given.get(&param.name).copied().or_else(default) else { continue };
            match scalar(input, *dtype) {
                Some(value) => arguments.push((at, value)),
                None => wrong.push(call::scalar_of_wrong_type(&param.name, *dtype, &input.to_string())),
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        for (at, value) in arguments {
            if let Some(Argument::Scalar(slot)) = self.arguments.get_mut(at) {
                *slot = value;
            }
        }
        Ok(())
    }
}

impl Launch {
    /// Gives one scalar another value, by its position in the signature.
    ///
    /// # Errors
    ///
    /// C01 where the value has another type than the parameter; then nothing is changed.
    pub fn set_scalar(
        &mut self,
        signature: &Signature,
        position: usize,
        input: ScalarInput,
    ) -> Result<(), Diagnostic> {
        let (Some(Param { name, kind: ParamKind::Scalar { dtype, .. }, .. }), Some(Argument::Scalar(slot))) =
            (signature.params.get(position), self.arguments.get_mut(position))
        else {
            return Ok(());
        };
        let value = scalar(input, *dtype);
        *slot = value.ok_or_else(|| call::scalar_of_wrong_type(name, *dtype, &input.to_string()))?;
        Ok(())
    }
}

/// Checks a call against a signature.
///
/// # Errors
///
/// All that is wrong with it: C01 types, C02 dimensions, C03 origin, C04 domain, C05 levels, C06 missing arguments.
pub fn bind(signature: &Signature, mut given: Call) -> Result<Launch, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let names = || signature.params.iter().map(|it| it.name.as_str());
    for name in given.fields.keys().chain(given.scalars.keys()).chain(given.origin.keys()) {
        if name != "_all_" && !names().any(|it| it == name) {
            wrong.push(call::no_such_parameter(&signature.name, name, names()));
        }
    }

    let mut arguments: Vec<Argument> =
        signature.params.iter().map(|it| argument(it, &mut given, &mut wrong)).collect();
    if wrong.is_empty() {
        let inferred = infer_domain(signature, &arguments);
        let domain = given.domain.unwrap_or(inferred);
        match checked_domain(domain, signature) {
            Ok(domain) => {
                for (param, argument) in signature.params.iter().zip(&arguments) {
                    check_fits(param, argument, domain, &mut wrong);
                }
                if wrong.is_empty() {
                    arguments.shrink_to_fit();
                    return Ok(Launch { domain, arguments });
                }
            }
            Err(diagnostic) => wrong.push(diagnostic),
        }
    }
    Err(wrong)
}

fn argument(param: &Param, given: &mut Call, wrong: &mut Vec<Diagnostic>) -> Argument {
    if param.access == AccessKind::None {
        return Argument::Unused;
    }
    match &param.kind {
        ParamKind::Scalar { dtype, default } => {
            let value = match given.scalars.get(&param.name) {
                Some(&input) => scalar(input, *dtype),
                None => match default {
                    Some(value) => Some(*value),
                    None => {
                        wrong.push(call::missing(&param.name, "scalar", param.span));
                        return Argument::Unused;
                    }
                },
            };
            match value {
                Some(value) => Argument::Scalar(value),
                None => {
                    let input = given.scalars.get(&param.name).map(ToString::to_string).unwrap_or_default();
                    wrong.push(call::scalar_of_wrong_type(&param.name, *dtype, &input));
                    Argument::Unused
                }
            }
        }
        ParamKind::Field { axes, data_dims, dtype, .. } => {
            let Some(array) = given.fields.remove(&param.name) else {
                wrong.push(call::missing(&param.name, "field", param.span));
                return Argument::Unused;
            };
            if array.dtype() != *dtype {
                wrong.push(call::field_of_wrong_type(&param.name, *dtype, array.dtype()));
            }
            if array.shape.len() != axes.len() + data_dims.len() {
                wrong.push(call::wrong_dimensions(&param.name, *axes, data_dims, &array.shape));
                return Argument::Unused;
            }
            let sizes = &array.shape[axes.len()..];
            if !sizes.iter().zip(data_dims).all(|(&given, &declared)| u32::try_from(given) == Ok(declared)) {
                wrong.push(call::wrong_data_dimensions(&param.name, data_dims, sizes));
                return Argument::Unused;
            }
            match origin(param, *axes, data_dims.len(), given) {
                Ok(origin) => Argument::Field(FieldArgument { array, origin }),
                Err(diagnostic) => {
                    wrong.push(diagnostic);
                    Argument::Unused
                }
            }
        }
    }
}

fn scalar(input: ScalarInput, dtype: DType) -> Option<Value> {
    match input {
        ScalarInput::Typed(value) => (value.dtype() == dtype).then_some(value),
        ScalarInput::Bool(value) => (dtype == DType::Bool).then_some(Value::Bool(value)),
        ScalarInput::Int(value) => {
            let typed = Value::Int64(value).cast(dtype);
            (dtype.is_float() || (dtype.is_int() && typed.as_i64() == value)).then_some(typed)
        }
        ScalarInput::Float(value) => {
            let typed = Value::Float64(value).cast(dtype);
            // One that is finite stays so.
            (dtype.is_float() && typed.as_f64().is_finite() == value.is_finite()).then_some(typed)
        }
    }
}

/// The origin of a field along I, J, K: its own entry, else `_all_`, else zeros.
fn origin(param: &Param, axes: AxisSet, n_data: usize, given: &Call) -> Result<[i64; 3], Diagnostic> {
    let mut origin = [0; 3];
    let own = given.origin.get(&param.name);
    let Some(entry) = own.or_else(|| given.origin.get("_all_")) else {
        return Ok(origin);
    };
    // One that is meant for all fields has an entry for each of I, J, K, also where as many dimensions are others.
    let (of_axes, of_data) = match entry.split_at_checked(axes.len()) {
        Some((of_axes, of_data)) if own.is_some() && of_data.len() == n_data => (of_axes, of_data),
        _ => (entry.as_slice(), [].as_slice()),
    };
    if of_data.iter().any(|&at| at != 0) {
        return Err(call::origin_of_data(&param.name, entry));
    }
    let entry = of_axes;
    if entry.len() == axes.len() {
        axes.iter().zip(entry).for_each(|(axis, &at)| origin[axis.index()] = at);
    } else if entry.len() == 3 {
        axes.iter().for_each(|axis| origin[axis.index()] = entry[axis.index()]);
    } else {
        return Err(call::wrong_origin_length(&param.name, axes, entry));
    }
    Ok(origin)
}

/// Per axis the largest domain that fits every field; 1 along an axis that no field has.
fn infer_domain(signature: &Signature, arguments: &[Argument]) -> [i64; 3] {
    Axis::ALL.map(|axis| {
        let fitting = signature.params.iter().zip(arguments).filter_map(|(param, argument)| {
            let (ParamKind::Field { axes, boundary, .. }, Argument::Field(field)) = (&param.kind, argument)
            else {
                return None;
            };
            let dimension = axes.iter().position(|it| it == axis)?;
            let size = i64::try_from(field.array.shape[dimension]).unwrap_or(i64::MAX);
            Some(size.saturating_sub(field.origin[axis.index()]) - i64::from(boundary[axis.index()].hi))
        });
        fitting.min().unwrap_or(1).max(0)
    })
}

fn checked_domain(domain: [i64; 3], signature: &Signature) -> Result<Domain, Diagnostic> {
    if domain.iter().any(|&n| !(0..=Domain::MAX_ALONG_AXIS).contains(&n)) {
        return Err(call::domain_out_of_range(domain));
    }
    let [i, j, k] = domain;
    if k < signature.min_levels && i > 0 && j > 0 && k > 0 {
        return Err(call::too_few_levels(&signature.name, k, signature.min_levels));
    }
    Ok(Domain::new(i, j, k))
}

/// Refuses a launch in which a run would touch what its arrays do not hold.
/// `touched` tells the positions of the compute domain, per parameter and axis.
///
/// [`bind`] applies the rule of acceptance. For a region that is anchored at one edge, the rule looks at this
/// edge only. This function looks at the positions that are really touched on this domain.
///
/// # Errors
///
/// C03 and C04, for each field.
pub fn check_touched(
    signature: &Signature,
    launch: &Launch,
    touched: &[Option<[Range<i64>; 3]>],
) -> Result<(), Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    for ((param, argument), ranges) in signature.params.iter().zip(&launch.arguments).zip(touched) {
        let (ParamKind::Field { axes, .. }, Argument::Field(field), Some(ranges)) =
            (&param.kind, argument, ranges)
        else {
            continue;
        };
        for (dimension, axis) in axes.iter().enumerate() {
            let range = &ranges[axis.index()];
            let origin = field.origin[axis.index()];
            let size = i64::try_from(field.array.shape[dimension]).unwrap_or(i64::MAX);
            if origin.saturating_add(range.start) < 0 {
                wrong.push(call::origin_too_small(&param.name, axis, origin, -range.start));
            }
            let needed = origin.saturating_add(range.end);
            if needed > size {
                let n = launch.domain.along(axis);
                wrong.push(call::field_too_small(&param.name, axis, size, needed, n));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn check_fits(param: &Param, argument: &Argument, domain: Domain, wrong: &mut Vec<Diagnostic>) {
    let (ParamKind::Field { axes, boundary, .. }, Argument::Field(field)) = (&param.kind, argument) else {
        return;
    };
    for (dimension, axis) in axes.iter().enumerate() {
        let reach = boundary[axis.index()];
        let origin = field.origin[axis.index()];
        let size = i64::try_from(field.array.shape[dimension]).unwrap_or(i64::MAX);
        if origin.saturating_add(reach.lo.into()) < 0 {
            wrong.push(call::origin_too_small(&param.name, axis, origin, -i64::from(reach.lo)));
        }
        let needed = origin.saturating_add(domain.along(axis) + i64::from(reach.hi));
        if needed > size {
            wrong.push(call::field_too_small(&param.name, axis, size, needed, domain.along(axis)));
        }
    }
}
