//! Every spelling of a field type.

use super::{value, value_in, why_not};
use crate::config::Config;
use crate::frontend::constants::{Constant, ElementType, FieldType};
use crate::types::DType;

fn described(value: &Constant) -> String {
    let Constant::Field(FieldType { axes, element, data_dims, is_table }) = value else {
        panic!("{value:?} is no field");
    };
    let element = match element {
        ElementType::Fixed(dtype) => dtype.to_string(),
        ElementType::Float => "float".to_owned(),
        ElementType::Int => "int".to_owned(),
        ElementType::Named(name) => format!("{name:?}"),
    };
    let kind = if *is_table { "table" } else { "field" };
    format!("{kind} {axes} {element} {data_dims:?}")
}

#[test]
fn axes_are_left_out_named_or_a_tuple() {
    for (written, meant) in [
        ("Field[float]", "field IJK float []"),
        ("gtscript.Field[np.float32]", "field IJK float32 []"),
        ("Field[\"dtype\"]", "field IJK \"dtype\" []"),
        ("Field[IJ, int]", "field IJ int []"),
        ("Field[gtscript.K, bool]", "field K bool []"),
        ("Field[I, np.int8]", "field I int8 []"),
        ("Field[(I, J), Float]", "field IJ float64 []"),
        ("Field[(gtscript.J, gtscript.K), float]", "field JK float []"),
        ("Field[(K,), float]", "field K float []"),
        ("Field[AXES, float]", "field IK float []"),
    ] {
        let text = format!(
            "import numpy as np\nfrom gt4py.cartesian import gtscript\nAXES = (I, K)\nit = {written}\n"
        );
        assert_eq!(described(&value(&text)), meant, "{written}");
    }
}

#[test]
fn data_dimensions_are_sizes_behind_the_element_type() {
    for (written, meant) in [
        ("Field[(float, (2, 3))]", "field IJK float [2, 3]"),
        ("Field[float, (2,)]", "field IJK float [2]"),
        ("Field[(\"t\", 4)]", "field IJK \"t\" [4]"),
        ("Field[IJ, (np.float64, (N,))]", "field IJ float64 [5]"),
        ("Field[IJK, (np.float64, (N, 2 * N))]", "field IJK float64 [5, 10]"),
        ("Field[VECTOR]", "field IJK float64 [4]"),
        ("Field[K, VECTOR]", "field K float64 [4]"),
        ("GlobalTable[(np.int32, (3, 3, 3, 3))]", "table  int32 [3, 3, 3, 3]"),
        ("GlobalTable[np.int32, (5,)]", "table  int32 [5]"),
        ("GlobalTable[(np.float64, (4))]", "table  float64 [4]"),
        ("GlobalTable[VECTOR]", "table  float64 [4]"),
        ("set_4d_field_size(9, Float)", "field IJK float64 [9]"),
        ("set_4d_field_size(dtype=int, n=N)", "field IJK int [5]"),
    ] {
        let text = format!("import numpy as np\nN = 5\nVECTOR = (np.float64, (4,))\nit = {written}\n");
        assert_eq!(described(&value(&text)), meant, "{written}");
    }
}

#[test]
fn what_is_no_type_says_why() {
    for (written, why) in [
        ("Field[J, I, float]", "`Field[...]` takes an element type, or axes and an element type"),
        ("Field[(J, I), float]", "the axes of the field are not known, or not in the order I, J, K"),
        ("Field[1.0]", "a number is not an element type"),
        ("Field[float, (0,)]", "the sizes of data dimensions are integers from 1 to 1048576"),
        ("Field[float, (2.0,)]", "the sizes of data dimensions are integers from 1 to 1048576"),
        ("Field[float, (1000000, 1000000)]", "the data dimensions hold too many values"),
        ("GlobalTable[float]", "`GlobalTable[...]` takes an element type and sizes"),
        ("set_4d_field_size(3)", "`set_4d_field_size` takes a size and an element type"),
    ] {
        assert_eq!(why_not(&format!("it = {written}\n")), why, "{written}");
    }
}

#[test]
fn a_bundle_has_the_type_that_is_registered_under_its_name() {
    let text = "
from ndsl.quantity.field_bundle import FieldBundleType
def make(factory):
    n = 9
    FieldBundleType.register(\"tracers\", (n,))
    FieldBundleType.register(name=\"counts\", data_dims=(2, 3), dtype=int)
it = FieldBundleType.T(\"NAME\")
";
    assert_eq!(described(&value(&text.replace("NAME", "tracers"))), "field IJK float64 [9]");
    assert_eq!(described(&value(&text.replace("NAME", "counts"))), "field IJK int [2, 3]");
    assert!(why_not(&text.replace("NAME", "others")).starts_with("no file has `FieldBundleType.register"));
}

#[test]
fn a_bundle_that_no_file_registers_may_stand_in_the_dtypes() {
    let text = "it = FieldBundleType.T(\"tracers\")\n";
    let dtypes = [("tracers".to_owned(), "Field[(float, (4,))]".to_owned())].into();
    let config = Config { dtypes, ..Config::default() };
    let found = value_in(&[("main.py", text)], &config, "it").unwrap();
    assert_eq!(found, Constant::Element(ElementType::Named("tracers".into())));
}

#[test]
fn the_alias_of_every_element_and_every_axes_is_known() {
    for (name, wide, narrow) in [
        ("Float", DType::Float64, DType::Float32),
        ("Int", DType::Int64, DType::Int32),
        ("Bool", DType::Bool, DType::Bool),
    ] {
        let suffixes: &[(&str, DType)] = match name {
            "Bool" => &[("", DType::Bool)],
            _ => &[("", wide), ("64", wide), ("32", narrow)],
        };
        for (suffix, dtype) in suffixes {
            for (axes, shown) in [("", "IJK"), ("I", "I"), ("J", "J"), ("K", "K"), ("IJ", "IJ")] {
                let alias = format!("{name}Field{axes}{suffix}");
                assert_eq!(
                    described(&value(&format!("it = {alias}\n"))),
                    format!("field {shown} {dtype} []")
                );
            }
        }
    }
}
