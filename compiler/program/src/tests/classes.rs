//! Classes, whose constructors are evaluated, to programs.

use expect_test::{Expect, expect};
use isobar_front::config::Config;
use isobar_front::frontend::models::models;
use isobar_front::project::Project;
use serde_json::{Value as Json, json};

use crate::compile::{ProgramCompilation, compile_class};
use crate::from_class::ClassRequest;
use crate::print::listing;

const HEAD: &str = "\
from gt4py.cartesian.gtscript import BACKWARD, FORWARD, PARALLEL, Field, computation, interval, stencil
from ndsl import QuantityFactory, StencilFactory, orchestrate
from ndsl.constants import X_DIM, X_INTERFACE_DIM, Y_DIM, Z_DIM
from ndsl.dsl.typing import Float, FloatField, FloatFieldIJ

LIMIT = 2

def lap(q: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q

def step(q: FloatField, l: FloatField, a: Float):
    with computation(PARALLEL), interval(...):
        q = q + a * l

def add(q: FloatField, by: Float):
    from __externals__ import order
    with computation(PARALLEL), interval(...):
        q = q + by * order

def top(q: FloatField):
    from __externals__ import k_end
    with computation(PARALLEL), interval(...):
        q = q + k_end

def area_of(q: FloatField, area: FloatFieldIJ):
    with computation(PARALLEL), interval(...):
        q = q * area

";

fn compiled(text: &str, class: &str, given: &Json) -> ProgramCompilation {
    let project = Project::of_one("main.py", &format!("{HEAD}{text}"));
    let given = given.as_object().cloned().unwrap_or_default();
    let request = ClassRequest {
        class,
        method: "__call__",
        given: &given,
        domain: [12, 10, 5],
        halo: 3,
        edges: [true; 4],
    };
    compile_class(&project, &request, Config::default())
}

/// Fields, scalars and statements of the class `Model`, or what is told of it.
fn check_with(text: &str, given: &Json, expected: &Expect) {
    let compilation = compiled(text, "Model", given);
    let told = match &compilation.program {
        Some(program) => {
            let text = listing(program).text;
            let is_shown = |it: &&str| !it.starts_with("  field") && !it.starts_with("  scalar");
            text.lines().skip(2).filter(is_shown).fold(String::new(), |all, it| all + it + "\n")
        }
        None => compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect(),
    };
    expected.assert_eq(&told);
}

/// The same of a constructor and a method.
fn check(init: &str, call: &str, expected: &Expect) {
    check_with(&model(init, call), &json!({}), expected);
}

fn model(init: &str, call: &str) -> String {
    format!(
        "class Model:\n    def __init__(self, stencil_factory: StencilFactory, quantity_factory: QuantityFactory):\n{init}\n{call}"
    )
}

#[test]
fn a_constructor_makes_stencils_with_their_ranges_and_fields_with_their_roles() {
    check(
        "
        orchestrate(obj=self, config=stencil_factory.config.dace_config)
        grid = stencil_factory.grid_indexing
        dims = [X_DIM, Y_DIM, Z_DIM]
        self._lap = stencil_factory.from_dims_halo(lap, compute_dims=dims, compute_halos=(1, 1))
        self._step = stencil_factory.from_origin_domain(
            step, origin=grid.origin_compute(add=(1, 0, 0)), domain=(grid.iec - grid.isc, grid.domain[1], 1)
        )
        self._l = quantity_factory.zeros(dims, units=\"\")
        self.weight = 0.5 if LIMIT > 1 else 0.25
        self.flags = {name: n for n, name in enumerate([\"a\", \"b\"])}",
        "
    def __call__(self, q: FloatField, a: Float, n: int):
        for it in range(n):
            self._lap(q, self._l)
            if self.flags[\"b\"] == 1:
                self._step(q, self._l, a * self.weight)
",
        &expect![[r#"
            local l: float64 IJK [I+7, J+7, K+1] at [3, 3, 0]
            argument q: float64 IJK [I+7, J+7, K+1] at [3, 3, 0]
            scalar argument a: float64
            scalar argument n: int64
            scalar local it_1: int64
            stencil lap = main.lap on [I+2, J+2, K] at [-1, -1, 0]
              levels 0
              external k_end = 4
            stencil step = main.step on [I-1, J, 1] at [1, 0, 0]
              levels 0

            for it_1 in range(0, n, 1)
              call lap(q=q, out=l)
              call step(q=q, l=l, a=a * 0.5)
        "#]],
    );
}

#[test]
fn classes_functions_and_loops_of_a_constructor_are_followed() {
    check(
        "
        def make(name):
            quantity = quantity_factory.zeros([X_DIM, Y_DIM], units=name, dtype=Float)
            return quantity

        self.parts = [Part(stencil_factory, order) for order in range(1, LIMIT + 1)]
        self.area = make(\"m2\")
        self.area.data[:] = 2.0
        self.scale = stencil_factory.from_dims_halo(area_of, [X_INTERFACE_DIM, Y_DIM, Z_DIM])
        lower = stencil_factory.restrict_vertical(k_start=2, nk=2)
        self.lower = lower.from_dims_halo(func=top, compute_dims=[X_DIM, Y_DIM, Z_DIM])",
        "
    def __call__(self, q: FloatField):
        for part in self.parts:
            part(q)
        self.scale(q, self.area)
        self.lower(q)

class Base:
    def __init__(self, order):
        self.order = order

    @property
    def half(self):
        return self.order / 2

class Part(Base):
    def __init__(self, stencil_factory, order):
        super().__init__(order)
        if order > 10:
            raise ValueError(\"too many\")
        self.add = stencil_factory.from_origin_domain(
            func=add, origin=(3, 3, 0), domain=(12, 10, 5), externals={\"order\": self.half}
        )

    def __call__(self, q):
        self.add(q, self.order)
",
        &expect![[r#"
            state quantity: float64 IJ [I+7, J+7] at [3, 3, 0] = 2.0
            argument q: float64 IJK [I+7, J+7, K+1] at [3, 3, 0]
            stencil add = main.add on [12, 10, 5] at [0, 0, 0]
              levels 0
              external order = 0.5
            stencil add_2 = main.add on [12, 10, 5] at [0, 0, 0]
              levels 0
              external order = 1.0
            stencil area_of = main.area_of on [I+1, J, K] at [0, 0, 0]
              levels 0
              external k_start = 0
              external k_end = 4
            stencil top = main.top on [I, J, 2] at [0, 0, 2]
              levels 0
              external k_start = 2
              external k_end = 3

            call add(q=q, by=1)
            call add_2(q=q, by=2)
            call area_of(q=q, area=quantity)
            call top(q=q)
        "#]],
    );
}

#[test]
fn what_nobody_gives_becomes_what_its_first_use_needs() {
    check_with(
        "class Model:
    def __init__(self, stencil_factory, grid_data, config, comm):
        self.grid_data, self.comm = grid_data, comm
        self.scale = stencil_factory.from_dims_halo(area_of, [X_DIM, Y_DIM, Z_DIM])
        self.add = stencil_factory.from_dims_halo(add, [X_DIM, Y_DIM, Z_DIM], externals={\"order\": config.order})

    def __call__(self, state, dt, n, tracers=None):
        if tracers is not None:
            raise ValueError
        self.comm.halo_update(state.q, n_points=2)
        for it in range(n):
            self.scale(state.q, self.grid_data.area)
            self.add(state.q, dt / 2)
",
        &json!({"config": {"order": 3}}),
        &expect![[r#"
            argument grid_data_area: float64 IJ [I+7, J+7] at [3, 3, 0]
            argument state_q: float64 IJK [I+7, J+7, K+1] at [3, 3, 0]
            scalar argument dt: float64
            scalar argument n: int64
            scalar local it_1: int64
            stencil area_of = main.area_of on [I, J, K] at [0, 0, 0]
              levels 0
              external k_end = 4
            stencil add = main.add on [I, J, K] at [0, 0, 0]
              levels 0
              external order = 3
              external k_end = 4

            exchange update scalar 2 of state_q
            for it_1 in range(0, n, 1)
              call area_of(q=state_q, area=grid_data_area)
              call add(q=state_q, by=dt / 2)
        "#]],
    );
}

#[test]
fn halo_updaters_of_ndsl_are_exchanges() {
    check(
        "
        comm = stencil_factory.comm
        spec = quantity_factory.get_quantity_halo_spec([X_DIM, Y_DIM, Z_DIM], n_halo=2)
        self.q = quantity_factory.ones([X_DIM, Y_DIM, Z_DIM], units=\"\")
        self.halo = WrappedHaloUpdater(comm.get_scalar_halo_updater([spec]), {\"q\": self.q}, [\"q\"])
        self.lap = stencil_factory.from_dims_halo(lap, [X_DIM, Y_DIM, Z_DIM])",
        "
    def __call__(self, out: FloatField):
        self.halo.start()
        self.halo.wait()
        self.lap(self.q, out)
",
        &expect![[r#"
            state q: float64 IJK [I+7, J+7, K+1] at [3, 3, 0] = 1.0
            argument out: float64 IJK [I+7, J+7, K+1] at [3, 3, 0]
            stencil lap = main.lap on [I, J, K] at [0, 0, 0]
              levels 0
              external k_end = 4

            exchange start scalar 2 of q
            exchange wait scalar 2 of q
            call lap(q=q, out=out)
        "#]],
    );
}

#[test]
fn what_is_not_followed_is_told_where_it_stands() {
    let call = "\n    def __call__(self, q: FloatField):\n        self.add(q, 1.0)\n";
    let told = |init: &str, given: &Json| {
        let compilation = compiled(&model(init, call), "Model", given);
        assert!(compilation.program.is_none());
        let first = compilation.diagnostics.first().expect("something is told");
        let line =
            |it: isobar_ground::diag::Span| compilation.file(it.file).1[..it.start as usize].lines().count();
        format!(
            "{} (line {})\n",
            first.message,
            line(first.primary.as_ref().unwrap().span) - HEAD.lines().count()
        )
    };
    let mut all = String::new();
    for init in [
        "        raise ValueError(\"no\")",
        "        if stencil_factory.config.is_gpu:\n            pass",
        "        self.q = quantity_factory.zeros([X_DIM, Y_DIM, Z_DIM], units=\"\")\n        fill(self.q)",
        "        self.add = stencil_factory.from_dims_halo(add, [X_DIM])",
        "        while True:\n            pass",
        "        self.__init__(stencil_factory, quantity_factory)",
        "        with open(\"x\"):\n            pass",
        "        self.add = stencil_factory.from_dims_halo(add, [X_DIM, Y_DIM, Z_DIM], externals={\"order\": missing(1)})",
        "        self.q = quantity_factory.zeros([X_DIM, Y_DIM, Z_DIM], units=\"\")\n        self.q.view[:] = 1.0",
        "        lower = stencil_factory.restrict_vertical(k_start=9)",
    ] {
        all += &told(init, &json!({}));
    }
    all += &told("        pass", &json!({"other": 1}));
    expect![[r#"
        the constructor is refused: it comes to `raise ValueError("no")` (line 3)
        the condition is refused: it depends on an object of the framework (line 3)
        the call is refused: `fill` gets the field `q`, and may change it (line 4)
        the range is refused: its dimensions are not along I, J and K (line 3)
        the constructor is refused: it has too many steps (line 4)
        the call is refused: functions call each other too deeply (line 3)
        the statement is refused: constructors are not followed through it (line 3)
        the external `order` is refused: it depends on something unknown (a call of `missing`, which is not among the files) (line 3)
        the assignment is refused: it depends on something unknown (`.view` of a field) (line 4)
        `restrict_vertical` is refused: there are 5 levels, and not -4 from 9 (line 3)
        `other` is refused: the constructor has no such parameter (line 1)
    "#]].assert_eq(&all);
}

#[test]
fn classes_with_a_constructor_and_a_method_may_be_programs() {
    let text = "class A:\n    def __init__(self): pass\n    def step(self): pass\n    def __call__(self): pass\n\nclass B:\n    x: int\n\nclass C:\n    def __init__(self): pass\n";
    let found = models(&Project::of_one("main.py", text));
    let told: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.methods.join(" "))).collect();
    assert_eq!(told, [("A", "__call__ step".to_owned())]);
    let missing = compiled("class Model:\n    def __init__(self): pass\n", "Models", &json!({}));
    expect![[r#"
        error[P02]: there is no class `Models`
         --> main.py:1:1
          |
        1 | from gt4py.cartesian.gtscript import BACKWARD, FORWARD, PARALLEL, Field, computation, interval, stencil
          | ^ not known
          |
          = help: did you mean `Model`?
    "#]].assert_eq(&missing.diagnostics.iter().map(|it| missing.rendered(it)).collect::<String>());
}

#[test]
fn folders_and_files_may_have_any_names() {
    let text = format!(
        "{HEAD}{}",
        model(
            "        self.lap = stencil_factory.from_dims_halo(lap, [X_DIM, Y_DIM, Z_DIM])\n",
            "    def __call__(self, q: FloatField, l: FloatField):\n        self.lap(q, l)\n",
        )
    );
    let compiled_as = |names: &[&str]| {
        let files = names.iter().map(|it| ((*it).to_owned(), text.as_str().into())).collect();
        let project = Project { files, main: names[0].to_owned(), stencil: None };
        let given = serde_json::Map::new();
        let request = ClassRequest {
            class: "Model",
            method: "__call__",
            given: &given,
            domain: [12, 10, 5],
            halo: 3,
            edges: [true; 4],
        };
        compile_class(&project, &request, Config::default())
    };
    for (name, function) in [
        (&["../my-models/diffusion 2.py"][..], "diffusion_2.lap"),
        (&["2d/lambda.py"], "_lambda.lap"),
        (&["/srv/über/diffusion.py", "diffusion.py"], "_ber.diffusion.lap"),
        (&["diffusion.py", "other/diffusion.py"], "diffusion.lap"),
        (&["a.b/c.py", "b/c.py", "x/c.py"], "a_b.c.lap"),
    ] {
        let compilation = compiled_as(name);
        let told: String = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
        let program = compilation.program.unwrap_or_else(|| panic!("{name:?}: {told}"));
        assert_eq!(program.stencils.values().next().map(|it| it.function.as_str()), Some(function));
    }
    // Names that are spelled alike are not mixed up.
    for names in [["a-b.py", "a b.py"], ["a_b.py", "a-b.py"], ["a-b.py", "a_b.py"]] {
        let compilation = compiled_as(&names);
        let told: String = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
        assert!(compilation.program.is_none() && told.contains("`a_b.lap` may stand in"), "{told}");
    }
}

#[test]
fn an_unknown_value_of_a_constructor_is_named_with_the_way_to_give_it() {
    let text = "class Model:\n    def __init__(self, stencil_factory: StencilFactory, config):\n        if config.is_fast:\n            self.lap = stencil_factory.from_dims_halo(lap, [X_DIM, Y_DIM, Z_DIM])\n    def __call__(self, q: FloatField, l: FloatField):\n        self.lap(q, l)\n";
    check_with(
        text,
        &json!({}),
        &expect![[r#"
            error[P17]: the condition is refused: it depends on `config.is_fast`, which has no value
              --> main.py:32:12
               |
            32 |         if config.is_fast:
               |            ^^^^^^^^^^^^^^ not carried out
               |
               = help: give `config.is_fast` a value in the file of `--externals`
        "#]],
    );
    let compilation = compiled(text, "Model", &json!({"config": {"is_fast": true}}));
    assert!(compilation.program.is_some(), "{:?}", compilation.diagnostics);
}

#[test]
fn a_field_that_a_function_makes_has_the_name_that_it_is_given() {
    let init = "
        def field():
            return quantity_factory.zeros([X_DIM, Y_DIM, Z_DIM], units=\"1\")

        self._lap = stencil_factory.from_dims_halo(lap, compute_dims=[X_DIM, Y_DIM, Z_DIM])
        self._flux_x = field()
        self._flux_y = field()
";
    let call = "
    def __call__(self, q: FloatField):
        self._lap(q, self._flux_x)
        self._lap(self._flux_x, self._flux_y)
";
    let compilation = compiled(&model(init, call), "Model", &json!({}));
    let program = compilation.program.expect("it compiles");
    let names: Vec<&str> = program.containers.values().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["flux_x", "flux_y", "q"]);
}
