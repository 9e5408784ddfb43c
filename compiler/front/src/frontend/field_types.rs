//! Types as constants: what `Field[...]`, `GlobalTable[...]` and their aliases are made of.

use super::constants::{Constant, ElementType, FieldType};
use crate::space::AxisSet;

/// The largest data dimension; what is larger is a slip, and no machine has the memory.
const MAX_SIZE: u32 = 1 << 20;

/// Why `Field[float, IK]` is no type.
pub const AXES_BEHIND: &str = "the axes come first, and the element type behind them";

/// `Field[index]`, where `index` is what stands between the brackets, a tuple as its parts.
///
/// # Errors
///
/// Why it is no type.
pub(super) fn field(index: &[Constant]) -> Result<FieldType, String> {
    let (axes, element) = match index {
        [one] => (AxisSet::IJK, std::slice::from_ref(one)),
        [first, second] if is_element(first) && axes(second).is_some() => return Err(AXES_BEHIND.to_owned()),
        // `Field[(float, (2,))]`: parentheses do not show in the tree.
        [first, _] if is_element(first) => (AxisSet::IJK, index),
        [first, rest @ ..] if rest.len() == 1 => {
            let axes = axes(first);
            (axes.ok_or("the axes of the field are not known, or not in the order I, J, K")?, rest)
        }
        _ => return Err("`Field[...]` takes an element type, or axes and an element type".to_owned()),
    };
    let (element, data_dims) = match element {
        [one] => element_and_dims(one)?,
        _ => (self::element(&element[0])?, self::dims(&element[1])?),
    };
    Ok(FieldType { axes, element, data_dims, is_table: false })
}

/// `GlobalTable[index]`.
///
/// # Errors
///
/// Why it is no type.
pub(super) fn table(index: &[Constant]) -> Result<FieldType, String> {
    let (element, data_dims) = match index {
        [both] => element_and_dims(both)?,
        [element, dims] => (self::element(element)?, self::dims(dims)?),
        _ => return Err("`GlobalTable[...]` takes an element type and sizes".to_owned()),
    };
    if data_dims.is_empty() {
        return Err("`GlobalTable[...]` takes an element type and sizes".to_owned());
    }
    Ok(FieldType { axes: AxisSet::of(&[]), element, data_dims, is_table: true })
}

/// A field with all axes and data dimensions: `set_4d_field_size(n, dtype)`, a bundle of fields.
///
/// # Errors
///
/// Why it is no type.
pub(super) fn with_data(dims: &Constant, element: &Constant) -> Result<FieldType, String> {
    let (element, data_dims) = (self::element(element)?, self::dims(dims)?);
    Ok(FieldType { axes: AxisSet::IJK, element, data_dims, is_table: false })
}

fn is_element(value: &Constant) -> bool {
    matches!(value, Constant::Element(_) | Constant::Str(_))
}

/// `IJ`, `I`, `(I, J)`
fn axes(value: &Constant) -> Option<AxisSet> {
    let parts = match value {
        Constant::Axes(set) => return Some(*set),
        Constant::Tuple(parts) => parts,
        one => std::slice::from_ref(one),
    };
    let axis = |it: &Constant| if let Constant::Axis(axis) = it { Some(*axis) } else { None };
    let axes: Vec<_> = parts.iter().map(axis).collect::<Option<_>>()?;
    let is_ordered = axes.windows(2).all(|it| it[0] < it[1]);
    (is_ordered && !axes.is_empty()).then(|| AxisSet::of(&axes))
}

/// `float`, `"name"` or `(float, (2, 3))`.
fn element_and_dims(value: &Constant) -> Result<(ElementType, Vec<u32>), String> {
    match value {
        Constant::Tuple(parts) => match &parts[..] {
            [element, dims] => Ok((self::element(element)?, self::dims(dims)?)),
            _ => Err("data dimensions are written `(element type, (sizes))`".to_owned()),
        },
        one => Ok((element(one)?, Vec::new())),
    }
}

/// The element type that a constant stands for.
///
/// # Errors
///
/// The reason why the constant is no element type.
pub(super) fn element(value: &Constant) -> Result<ElementType, String> {
    match value {
        Constant::Element(element) => Ok(element.clone()),
        Constant::Str(name) => Ok(ElementType::Named(name.clone())),
        other => Err(format!("{} is not an element type", other.describe())),
    }
}

fn dims(value: &Constant) -> Result<Vec<u32>, String> {
    let size = |it: &Constant| u32::try_from(it.as_int()?).ok().filter(|size| (1..=MAX_SIZE).contains(size));
    let sizes: Option<Vec<u32>> = match value {
        Constant::Tuple(parts) | Constant::List(parts) => parts.iter().map(size).collect(),
        one => size(one).map(|it| vec![it]),
    };
    let sizes =
        sizes.ok_or_else(|| format!("the sizes of data dimensions are integers from 1 to {MAX_SIZE}"))?;
    // Elements are numbered with 32 bits, so larger data dimensions cannot be read.
    let is_countable = sizes.iter().try_fold(1_u32, |all, &it| all.checked_mul(it)).is_some();
    if is_countable { Ok(sizes) } else { Err("the data dimensions hold too many values".to_owned()) }
}
