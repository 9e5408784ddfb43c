//! Names across files.

use super::{value, value_in, why_not};
use crate::config::Config;
use crate::frontend::constants::{Constant, Evaluation};

fn found(files: &[(&str, &str)]) -> Evaluation {
    value_in(files, &Config::default(), "it")
}

#[test]
fn every_form_of_an_import_finds_its_file() {
    for import in [
        "from model.stencils.ppm import p1 as it",
        "from .ppm import p1 as it",
        "from . import ppm\nit = ppm.p1",
        "from ..stencils.ppm import p1 as it",
        "from ..stencils import ppm\nit = ppm.p1",
        "import model.stencils.ppm\nit = model.stencils.ppm.p1",
        "import model.stencils.ppm as other\nit = other.p1",
        "from model.stencils import ppm\nit = ppm.p1",
        "from model import again as it",
        "from model import *\nit = again",
        "from .ppm import *\nit = p1",
        "from stencils.ppm import p1 as it",
    ] {
        let files = [
            ("model/stencils/main.py", import),
            ("model/stencils/ppm.py", "p1 = 7.0 / 12.0\n"),
            ("model/stencils/__init__.py", ""),
            ("model/__init__.py", "from .stencils.ppm import p1 as again\n"),
        ];
        assert_eq!(found(&files), Ok(Constant::Float(7.0 / 12.0)), "{import}");
    }
}

#[test]
fn a_folder_above_does_not_matter_and_the_nearest_of_several_is_taken() {
    let files = [
        ("b/pkg/main.py", "from lib import X\nit = X\n"),
        ("a/pkg/lib.py", "X = 1\n"),
        ("b/pkg/lib.py", "X = 2\n"),
        ("c/pkg/lib.py", "X = 3\n"),
    ];
    assert_eq!(found(&files), Ok(Constant::Int(2)));
}

#[test]
fn circles_of_imports_resolve_where_their_values_do() {
    let files = [
        ("main.py", "from b import B\nA = 2\nit = B + 1\n"),
        ("b.py", "from main import A\nfrom c import *\nB = A * C\n"),
        ("c.py", "from b import *\nC = 10\n"),
    ];
    assert_eq!(found(&files), Ok(Constant::Int(21)));
}

#[test]
fn an_import_that_fails_falls_back() {
    let text = "try:\n    from missing.module import X\nexcept ImportError:\n    X = 5\nit = X\n";
    assert_eq!(found(&[("main.py", text)]), Ok(Constant::Int(5)));
    let files = [("main.py", text), ("missing/module.py", "X = 6\n")];
    assert_eq!(found(&files), Ok(Constant::Int(6)));
    let text = "try:\n    import missing as m\nexcept ImportError:\n    m = None\nit = m is None\n";
    assert_eq!(found(&[("main.py", text), ("missing.py", "")]), Ok(Constant::Bool(false)));
}

#[test]
fn what_is_imported_for_type_checkers_counts() {
    let text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import X\nit = X\n";
    assert_eq!(found(&[("main.py", text), ("lib.py", "X = 4\n")]), Ok(Constant::Int(4)));
}

#[test]
fn the_language_is_known_under_every_path() {
    for import in [
        "from gt4py.cartesian.gtscript import Field as it",
        "from gt4py.gtscript import Field as it",
        "from gt4py.cartesian import gtscript\nit = gtscript.Field",
        "from gt4py import gtscript\nit = gtscript.Field",
        "import gt4py.cartesian.gtscript as gtscript\nit = gtscript.Field",
        "from ndsl.dsl.gt4py import Field as it",
        "from pace.dsl.gt4py import Field as it",
        "it = Field",
    ] {
        assert_eq!(found(&[("main.py", import)]), Ok(Constant::Word("Field")), "{import}");
        // The language's own source is no text to compile.
        let source = "Field = _Maker()\ndef computation(order):\n    pass\n";
        let files = [("main.py", import), ("src/gt4py/cartesian/gtscript.py", source)];
        assert_eq!(found(&files), Ok(Constant::Word("Field")), "{import}");
    }
}

#[test]
fn the_types_and_constants_of_ndsl_are_known_under_old_names() {
    for import in [
        "from ndsl.dsl.typing import FloatFieldIJ as it",
        "from pace.dsl.typing import FloatFieldIJ as it",
        "from fv3core.utils.typing import FloatFieldIJ as it",
        "import pace.dsl.typing as typing\nit = typing.FloatFieldIJ",
    ] {
        assert!(matches!(found(&[("main.py", import)]), Ok(Constant::Field(_))), "{import}");
    }
    for import in [
        "from ndsl.constants import GRAV as it",
        "import pace.util.constants as constants\nit = constants.GRAV",
        "from pace.util import constants\nit = constants.GRAV",
    ] {
        assert!(matches!(found(&[("main.py", import)]), Ok(Constant::Typed(_))), "{import}");
    }
}

#[test]
fn a_module_that_is_not_there_is_named() {
    assert_eq!(
        why_not("from model.config import DT\nit = DT\n"),
        "it comes from the module `model.config`, which is not among the files"
    );
    assert_eq!(
        why_not("from ..config import DT\nit = DT\n"),
        "it comes from the module `..config`, which is not among the files"
    );
}

#[test]
fn a_file_is_read_only_when_a_name_of_it_is_needed() {
    use crate::diag::Diagnostics;
    use crate::frontend::{Names, parse};
    use crate::project::Project;

    let mut project = Project::of_one("main.py", "from lib import X\nfrom other import Y\n");
    project.files.insert("lib.py".to_owned(), "X = 1\n".into());
    project.files.insert("other.py".to_owned(), "Y = ((\n".into());
    let mut found = Diagnostics::default();
    let program = parse(&project, &mut found);
    let config = Config::default();
    let names = Names::new(&program, &config);
    let scope = program.main.and_then(|it| names.module_scope(it)).unwrap();
    assert_eq!(names.lookup(scope, u32::MAX, "X"), Some(Ok(Constant::Int(1))));
    let reached: Vec<&str> = names.reached().map(|it| &*it.name).collect();
    assert_eq!(reached, ["lib.py", "main.py"]);
    assert!(!found.has_errors(), "nothing needs the broken file");
}

#[test]
fn a_condition_does_not_see_what_depends_on_it() {
    assert_eq!(
        why_not("if not it:\n    it = 1\nelse:\n    it = 2\n"),
        "it stands under a condition that is not known: nothing is named `it`"
    );
    assert_eq!(value("it = 0\nif not it:\n    it = 1\n"), Constant::Int(1));
}

#[test]
fn what_ndsl_computes_is_known_also_where_its_own_files_are_there() {
    let typing = "from gt4py.cartesian.gtscript import IJK, Field\n\
                  def set_4d_field_size(n, dtype):\n    return Field[IJK, (dtype, (n,))]\n\
                  class FieldBundleType:\n    @classmethod\n    def T(cls, name):\n        return cls._types[name]\n";
    let of = |it: &str| {
        let main = format!("from ndsl.dsl.typing import FieldBundleType, set_4d_field_size\n{it}");
        found(&[("main.py", main.as_str()), ("ndsl/dsl/typing.py", typing)])
    };
    let four = of("it = set_4d_field_size(9, float)\n");
    assert!(matches!(&four, Ok(Constant::Field(it)) if it.data_dims == [9]), "{four:?}");
    let bundle = of("FieldBundleType.register(\"tracers\", (5,))\nit = FieldBundleType.T(\"tracers\")\n");
    assert!(matches!(&bundle, Ok(Constant::Field(it)) if it.data_dims == [5]), "{bundle:?}");
}

#[test]
fn the_language_is_known_where_its_own_repository_is_among_the_files() {
    let package = "from . import gtscript\n";
    let of = |text: &str| {
        found(&[
            ("tests/unit/main.py", text),
            ("src/gt4py/cartesian/__init__.py", package),
            ("src/gt4py/cartesian/gtscript.py", "Field = _FieldDescriptorMaker()\n"),
            ("src/gt4py/cartesian/gtc/numpy/__init__.py", "from .npir import *\n"),
        ])
    };
    let field = value("from gt4py.cartesian.gtscript import Field\nit = Field[float]\n");
    assert_eq!(of("from gt4py.cartesian import gtscript as gs\nit = gs.Field[float]\n"), Ok(field));
    let dtype = value("import numpy as np\nit = np.float64\n");
    assert_eq!(of("import numpy as np\nit = np.float64\n"), Ok(dtype));
}
