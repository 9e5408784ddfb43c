"""Finds the definition of a stencil in Python files whose surroundings need not be there.

Files of models import packages that are not installed. Only what a stencil needs is executed: a file runs statement
by statement, what fails is left out, and a module that nobody has is an object that answers to any name.
"""

import ast
import importlib
import importlib.abc
import importlib.machinery
import pathlib
import sys
import types

import numpy as np
from gt4py.cartesian import gtscript

# Packages that are installed and mean what they say.
REAL = {"gt4py", "numpy", "math", "typing", "enum", "dataclasses", "types", "functools", "__future__", "os", "sys"}


# Stand-ins for modules whose files have more than those.
PARTIAL = {"ndsl.dsl.typing"}


class Anything:
    """Stands for what is not there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *arguments, **_):
        # As a decorator it changes nothing.
        if len(arguments) == 1 and callable(arguments[0]) and not isinstance(arguments[0], Anything):
            return arguments[0]
        return Anything()


class Absent(types.ModuleType):
    """A module that nobody has, or of which something is left out."""

    def __init__(self, name, finder=None):
        super().__init__(name)
        self.__path__ = []
        self.__finder = finder

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        below = f"{self.__name__}.{name}"
        # A module of a package is there before anybody names it in full.
        if self.__finder in sys.meta_path and self.__finder.path_of(below) is not None:
            return importlib.import_module(below)
        return Anything()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The files of a case, the stand-ins, and what is absent."""

    def __init__(self, folder, files, stand_ins, roots):
        self.folder, self.stand_ins, self.roots = folder, stand_ins, roots
        self.by_ending, self.whole = {}, {}
        for file in files:
            parts = pathlib.PurePosixPath(file).with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
            self.whole.setdefault(parts, file)
            for start in range(len(parts)):
                self.by_ending.setdefault(".".join(parts[start:]), file)
        self.made = []

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in REAL:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        self.made.append(spec.name)
        module = Absent(spec.name, self)
        if spec.name in self.stand_ins:
            module.__dict__.update(self.stand_ins[spec.name])
        return module

    def exec_module(self, module):
        name = module.__name__
        if name in self.stand_ins and name not in PARTIAL:
            return
        path = self.path_of(name)
        if path is not None:
            execute(module, path)
            module.__dict__.update(self.stand_ins.get(name, {}))

    def path_of(self, name):
        """The file of a module: one that ends with its name, one of another checkout, or one that its name ends with,
        where the files begin below the folder of the package."""
        parts = tuple(name.split("."))
        file = self.by_ending.get(name)
        if file is None and (path := self.elsewhere(name)) is not None:
            return path
        if file is None:
            file = next((it for n in range(1, len(parts)) if (it := self.whole.get(parts[n:])) is not None), None)
        return None if file is None else self.folder / file

    def elsewhere(self, name):
        """A module of another checkout."""
        below = name.replace(".", "/")
        # A package's own file brings in the whole package, and what a stencil needs of it is named in full.
        paths = (root / f"{below}.py" for root in self.roots)
        return next((it for it in paths if it.exists()), None)


def execute(module, path):
    """Runs a file statement by statement; what fails is left out."""
    module.__file__ = str(path)
    tree = ast.parse(path.read_text(), str(path))
    for statement in tree.body:
        execute_statement(statement, module, path)


def execute_statement(statement, module, path):
    for node in ast.walk(statement):
        # A decorator would compile the stencil here and now.
        if isinstance(node, ast.FunctionDef) and has_computation(node):
            node.decorator_list = []
    code = compile(ast.Module([statement], []), str(path), "exec")
    try:
        exec(code, module.__dict__)  # noqa: S102
    except Exception:  # noqa: BLE001, S110 - a stencil that needs it will say so
        pass


def has_computation(function):
    return any(
        isinstance(item.context_expr, ast.Call) and getattr(item.context_expr.func, "id", None) == "computation"
        for node in ast.walk(function)
        if isinstance(node, ast.With)
        for item in node.items
    )


def way_to(body, path, way=()):
    """The functions and classes around the first definition of that name or path, and the definition."""
    *outer, name = path.split(".")
    around = [it.name for it in way if isinstance(it, ast.FunctionDef | ast.ClassDef)]
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == name and around[len(around) - len(outer) :] == outer:
            return (*way, node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If | ast.With | ast.For):
            found = way_to(node.body, path, (*way, node))
            if found is not None:
                return found
    return None


def load(folder, case, typing_names):
    """The module of a case, and the function of its stencil; or why not, and None."""
    for name in [it for it, module in sys.modules.items() if isinstance(module, Absent)]:
        del sys.modules[name]
    keywords = {name: getattr(gtscript, name) for name in gtscript.__all__}
    stand_ins = {
        "ndsl.dsl": {},
        # It greets on loading.
        "ndsl.logging": {},
        "ndsl.dsl.typing": typing_names,
        "ndsl.dsl.gt4py": keywords,
    }
    finder = Finder(folder, case["files"], stand_ins, [pathlib.Path(it) for it in case["roots"]])
    sys.meta_path.insert(0, finder)
    try:
        path = folder / case["main"]
        parts = pathlib.PurePosixPath(case["main"]).with_suffix("").parts
        module = Absent(".".join(parts))
        module.__package__ = ".".join(parts[:-1])
        module.__dict__.update({name: it for name, it in keywords.items()})
        sys.modules[module.__name__] = module
        execute(module, path)
        way = way_to(ast.parse(path.read_text()).body, case["stencil"])
        if way is None:
            return "there is no such function", None
        # What stands before a nested definition, in all that is around it.
        for outer, inner in zip(way, way[1:], strict=False):
            for statement in outer.body:
                if statement.lineno >= inner.lineno:
                    break
                if not isinstance(outer, ast.ClassDef):
                    execute_statement(statement, module, path)
        if len(way) > 1:
            execute_statement(way[-1], module, path)
        definition = module.__dict__.get(case["stencil"].split(".")[-1])
        if definition is None:
            return "its definition cannot be executed", None
        return module, definition
    finally:
        sys.meta_path.remove(finder)


def external(value, module):
    """An external in the form of the command line's `--externals`, as gt4py takes it."""
    if isinstance(value, dict):
        if "axis" in value:
            axis = getattr(gtscript, value["axis"])
            return axis if value["index"] is None else axis[value["index"]] + value["offset"]
        if "dtype" in value:
            return np.dtype(value["dtype"]).type(value["value"])
        if "function" in value:
            found = module
            for part in value["function"].split("."):
                found = getattr(found, part)
            return found
        if "namespace" in value:
            members = {name: external(it, module) for name, it in value["namespace"].items()}
            return types.SimpleNamespace(**members)
        if "enum" in value:
            return getattr(getattr(module, value["enum"]), value["member"])
    if isinstance(value, str):
        return float(value)
    return value
