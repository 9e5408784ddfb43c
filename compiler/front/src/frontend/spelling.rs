//! The names of the language as lists, to find what a misspelt one was meant to be.

use crate::types::Function;

/// The names of types that an annotation may use without an import.
#[must_use]
pub fn types() -> Vec<String> {
    let plain = ["bool", "float", "int", "int32", "int64", "float32", "float64", "Float", "Int", "Bool"];
    let mut all: Vec<String> = plain.into_iter().chain(["Field", "GlobalTable"]).map(str::to_owned).collect();
    for axes in ["", "I", "J", "K", "IJ"] {
        all.push(format!("BoolField{axes}"));
        for kind in ["Float", "Int"] {
            all.extend(["", "32", "64"].map(|bits| format!("{kind}Field{axes}{bits}")));
        }
    }
    all
}

/// The functions that an expression may call without an import.
pub fn callable() -> impl Iterator<Item = &'static str> {
    let casts = ["int", "float", "int32", "int64", "float32", "float64"];
    Function::builtins().map(Function::name).chain(casts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::frontend::builtins::language_name;
    use crate::frontend::constants::Constant;

    #[test]
    fn each_type_is_one_of_the_language() {
        for name in types() {
            let known = language_name(&name, &Config::default());
            let is_type = matches!(
                known,
                Some(Constant::Element(_) | Constant::Field(_) | Constant::Word("Field" | "GlobalTable"))
            );
            assert!(is_type, "{name}");
        }
    }
}
