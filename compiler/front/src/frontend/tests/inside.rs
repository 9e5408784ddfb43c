//! The values that are known inside functions and methods.

use crate::config::Config;
use crate::diag::Diagnostics;
use crate::frontend::constants::Constant;
use crate::frontend::modules::ScopeId;
use crate::frontend::{Names, parse};
use crate::project::Project;

/// The value of `it` where the text binds it.
fn value(text: &str) -> Result<Constant, String> {
    let program = parse(&Project::of_one("main.py", text), &mut Diagnostics::default());
    let config = Config::default();
    let names = Names::new(&program, &config);
    let file = program.main.unwrap();
    let mut scopes = (0..).map(|index| ScopeId { file, index });
    let scope = scopes.find(|it| names.scope(*it).names.contains_key("it")).unwrap();
    names.lookup(scope, u32::MAX, "it").unwrap().map_err(|it| it.why)
}

#[test]
fn a_test_has_the_first_of_its_values() {
    let listed = |listed: &str| {
        value(&format!("FIRST = (3, 5)\n@pytest.mark.parametrize({listed})\ndef test(a, b):\n    it = a\n"))
    };
    for rows in [
        "'a', [3, 4]",
        "'b, a', [(1, 3), (2, 4)]",
        "['a', 'b'], ((3, 0),)",
        "argnames='b,a', argvalues=[pytest.param(1, 3, id='x')]",
        "'n, a', list(enumerate([3, 4]))",
        "'a, b', [FIRST]",
    ] {
        assert_eq!(listed(rows), Ok(Constant::Int(3)), "{rows}");
    }
    for rows in ["'a', ALL", "'a', []", "'b', [3]"] {
        assert_eq!(listed(rows), Err("it is a parameter of the function around".to_owned()), "{rows}");
    }
}

#[test]
fn an_object_has_what_one_place_sets_and_what_its_classes_have() {
    let method = |expr: &str| {
        value(&format!(
            "class Base:
    shared = 7
    def prepare(self):
        self.inherited = 5
class C(Base):
    def prepare(this, flag):
        this.once = 3
        this.twice = 1
        if this.once > 2:
            this.guarded = 4
    def use(self):
        self.twice = 2
        self.counted += 1
        it = {expr}
    @staticmethod
    def plain(first):
        first.of_another = 6
"
        ))
    };
    for (expr, expected) in [("once", 3), ("shared", 7), ("inherited", 5), ("guarded", 4)] {
        assert_eq!(method(&format!("self.{expr}")), Ok(Constant::Int(expected)), "{expr}");
    }
    assert_eq!(method("self.twice"), Err("it is assigned in several places".to_owned()));
    assert_eq!(method("self.counted"), Err("it changes while the file runs".to_owned()));
    assert_eq!(method("self.of_another"), Err("the class `C` has no attribute `of_another`".to_owned()));
}
