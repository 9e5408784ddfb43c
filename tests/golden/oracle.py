"""Builds stencil files, unmodified, with gt4py: the independent opinion that the golden data holds.

The files import names the way models do, from packages that need not be installed here.
`load` therefore puts small stand-ins for those packages in place, for one precision, before it runs a file.
"""

import importlib.util
import os
import pathlib
import sys
import tempfile
import types

os.environ.setdefault("GT_CACHE_ROOT", tempfile.mkdtemp(prefix="golden-"))

import numpy as np  # noqa: E402
from gt4py.cartesian import gtscript  # noqa: E402
from gt4py.cartesian.gtc.debug import debug_codegen  # noqa: E402

AXES = {"": "IJK", "I": "I", "J": "J", "K": "K", "IJ": "IJ"}


def mend_debug_printer() -> None:
    """Corrects three faults in what gt4py's `debug` back end prints.

    A ternary or a sign within a larger expression is printed without parentheses, so that
    `x * (a if c else b)` runs as `(x * a) if c else b`; and elements of IJ and K fields are taken
    with `.item()`, which makes Python floats of them: 64 bits, whatever the field has.
    """
    for printer in (value for value in vars(debug_codegen).values() if isinstance(value, type)):
        if "visit_TernaryOp" not in vars(printer):
            continue
        ternary, sign, access = printer.visit_TernaryOp, printer.visit_UnaryOp, printer.visit_FieldAccess

        def visit_ternary(self, node, _print=ternary, **kwargs):
            return f"({_print(self, node, **kwargs)})"

        def visit_sign(self, node, _print=sign, **kwargs):
            return f"({_print(self, node, **kwargs)})"

        def visit_access(self, node, _print=access, **kwargs):
            text = _print(self, node, **kwargs)
            return text.removesuffix(".item()") + ".reshape(())[()]" if text.endswith(".item()") else text

        printer.visit_TernaryOp = visit_ternary
        printer.visit_UnaryOp = visit_sign
        printer.visit_FieldAccess = visit_access


mend_debug_printer()


def mend_debug_loops() -> None:
    """Corrects two faults in the loops of gt4py's `debug` back end.

    A sequential computation runs each of its blocks over all levels before the next block starts, and not all blocks
    level by level, so that a recurrence through two statements reads what is not there yet; and a region of the
    whole plane has no condition, which ends in an assertion.
    """
    printer = debug_codegen.DebugCodeGen

    def generate_stencil_code(self, stencil, block_extents, symtable):
        for loop in stencil.vertical_loops:
            for section in loop.sections:
                if str(loop.loop_order.value).upper() == "PARALLEL":
                    for execution in section.horizontal_executions:
                        with self.generate_ij_loop(block_extents, execution):
                            with self.create_k_loop_code(section, loop, symtable=symtable):
                                self.visit(execution, symtable=symtable)
                    continue
                is_backward = str(loop.loop_order.value).upper() == "BACKWARD"
                self.body.append("for k in reversed(range(k_size)):" if is_backward else "for k in range(k_size):")
                with self.body.indented():
                    for execution in section.horizontal_executions:
                        with self.generate_ij_loop(block_extents, execution):
                            # The bounds may be different ones at every point.
                            low, high = (
                                self.visit(bound, var="k", direction=None, symtable=symtable)
                                for bound in (section.interval.start, section.interval.end)
                            )
                            self.body.append(f"if {low} <= k < {high}:")
                            with self.body.indented():
                                self.visit(execution, symtable=symtable)

    restricted = printer.visit_HorizontalMask

    def visit_mask(self, mask, **kwargs):
        bounds = (mask.i.start, mask.i.end, mask.j.start, mask.j.end)
        if all(it is None for it in bounds):
            self.body.append("if True:")
        else:
            restricted(self, mask, **kwargs)

    printer.generate_stencil_code = generate_stencil_code
    printer.visit_HorizontalMask = visit_mask


mend_debug_loops()


def typing_names(precision: int) -> dict:
    """The type aliases of models, at one precision."""
    kinds = {
        "Float": {"": np.dtype(f"float{precision}").type, "32": np.float32, "64": np.float64},
        "Int": {"": np.dtype(f"int{precision}").type, "32": np.int32, "64": np.int64},
        "Bool": {"": np.bool_},
    }
    names = {}
    for kind, types_ in kinds.items():
        names[kind] = types_[""]
        for width, dtype in types_.items():
            for suffix, axes in AXES.items():
                names[f"{kind}Field{suffix}{width}"] = gtscript.Field[getattr(gtscript, axes), dtype]
    return names


def install_stand_ins(precision: int) -> None:
    """Makes `ndsl.dsl.typing` and `ndsl.dsl.gt4py` importable."""
    keywords = {name: getattr(gtscript, name) for name in gtscript.__all__}
    contents = {
        "ndsl": {},
        "ndsl.dsl": {},
        "ndsl.dsl.typing": typing_names(precision),
        "ndsl.dsl.gt4py": keywords,
    }
    for name, members in contents.items():
        module = types.ModuleType(name)
        module.__path__ = []
        module.__dict__.update(members)
        sys.modules[name] = module


def load(path: pathlib.Path, precision: int) -> types.ModuleType:
    """Runs a stencil file and returns its names."""
    install_stand_ins(precision)
    spec = importlib.util.spec_from_file_location(f"golden_{path.stem}_{precision}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # gt4py looks up where a function was defined
    spec.loader.exec_module(module)
    return module


def build(path: pathlib.Path, stencil: str, precision: int, backend: str, externals: dict):
    """Compiles one stencil of a file, as a model at that precision does."""
    module = load(path, precision)
    names = typing_names(precision)
    return gtscript.stencil(
        backend=backend,
        definition=getattr(module, stencil),
        name=f"{stencil}_{precision}_{backend}",
        externals=externals,
        dtypes={float: names["Float"], int: names["Int"]},
        literal_float_precision=precision,
        literal_int_precision=precision,
        rebuild=True,
    )
