"""gt4py's half of `cargo xtask agree`: builds and runs the stencils that a folder describes.

    python tests/agree/run_gt4py.py FOLDER FUNCTIONS...

`FOLDER/cases.json` lists the cases. Each has a folder with its files and, where Isobar ran it, `in.npz`; what comes
out is written beside it as `out.npz`, and one line per case to `FOLDER/results.jsonl`. `FUNCTIONS...` is a command
that computes Isobar's elementary functions: each call is answered with Isobar's bits, so that the rest of a stencil
must agree to the bit, and how far these are from NumPy's is reported, call by call.

Every stencil runs twice, with temporaries that start with different values. Where that changes the result, something
undefined was read, and there is nothing to compare.
"""

import contextlib
import json
import pathlib
import platform
import signal
import subprocess
import sys
import warnings
from importlib import metadata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))

import numpy as np
import oracle  # mends the `debug` printer as well
from gt4py.cartesian import gtscript
from gt4py.cartesian import utils as gt_utils
from gt4py.cartesian.gtc import ufuncs
from loader import external, load

# A stencil that takes longer hangs.
SECONDS = 60

# Isobar's name of each function whose last bits are nobody's to say.
TRANSCENDENTAL = {
    "exp": "exp",
    "log": "log",
    "log10": "log10",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "cbrt": "cbrt",
    "gamma": "gamma",
    "erf": "erf",
    "erfc": "erfc",
    "power": "pow",
}


class Functions:
    """Isobar's functions, and how far they were from NumPy's since the last `reset`."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reset()

    def reset(self):
        self.ulps = {}

    def ask(self, name, arguments):
        types = " ".join(it.dtype.name for it in arguments)
        self.process.stdin.write(f"{name} {arguments[0].size} {types}\n".encode())
        for it in arguments:
            self.process.stdin.write(it.tobytes())
        self.process.stdin.flush()
        result = arguments[0].dtype
        answer = self.process.stdout.read(arguments[0].size * result.itemsize)
        return np.frombuffer(answer, dtype=result).reshape(arguments[0].shape)

    def stand_in(self, name, native):
        """The function as gt4py calls it."""

        def call(*operands, **_where):
            theirs = native(*operands)
            if not np.issubdtype(np.asarray(theirs).dtype, np.floating):
                return theirs
            # A power has the larger type of its operands in the language's order, in which floats stand above all
            # integers; NumPy takes a float32 and an int64 to float64.
            floats = [it.dtype for it in map(np.asarray, operands) if np.issubdtype(it.dtype, np.floating)]
            if not floats:
                return theirs
            dtype = max(floats, key=lambda it: it.itemsize)
            arrays = np.broadcast_arrays(*operands)
            if not np.issubdtype(arrays[0].dtype, np.floating) or arrays[0].dtype.itemsize < dtype.itemsize:
                arrays[0] = arrays[0].astype(dtype)
            arrays = [it.copy(order="C") for it in arrays]  # `ascontiguousarray` would make a scalar an array
            ours = self.ask(name, arrays)
            self.compare(name, ours, np.asarray(theirs).astype(dtype))
            return ours if ours.shape else ours[()]

        call.types = getattr(native, "types", None)
        return call

    def compare(self, name, ours, theirs):
        both_nan = np.isnan(ours) & np.isnan(theirs)
        distance = np.where(both_nan, 0, np.abs(line(ours) - line(theirs)))
        key = f"{name} {ours.dtype.name}"
        worst = int(distance.max(initial=0))
        self.ulps[key] = max(self.ulps.get(key, 0), worst)


def line(values):
    """The place of each float among all floats in order; exact for all but the largest distances."""
    width = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(f"int{8 * width}").astype(object if width == 8 else np.int64)
    lowest = -(1 << (8 * width - 1))
    return np.where(bits < 0, lowest - bits, bits)


class Fill:
    """What temporaries start with."""

    values = (float("nan"), 77, True)

    @classmethod
    def install(cls):
        def empty(field, shape, dtype, offset, dims):
            number, integer, truth = cls.values
            kind = np.dtype(dtype).kind
            start = {"f": number, "i": integer, "b": truth}[kind]
            return field(np.full(shape, start, dtype=dtype), offset, dims)

        gt_utils.Field.empty = classmethod(empty)


FILLS = ((float("nan"), 77, True), (1234.5, -13, False))


class TooLong(Exception):
    """The stencil does not end."""


@contextlib.contextmanager
def time_limit():
    def stop(*_):
        raise TooLong(f"it takes longer than {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def build(case, module, definition, backend):
    precision = case["precision"]
    names = oracle.typing_names(precision)
    given = {{"float": float, "int": int}.get(name, name): np.dtype(it).type for name, it in case["dtypes"].items()}
    return gtscript.stencil(
        backend=backend,
        definition=definition,
        name=f"{case['stencil']}_{case['id']}_{backend}",
        externals={name: external(it, module) for name, it in case["externals"].items()},
        dtypes={float: names["Float"], int: names["Int"]} | given,
        literal_float_precision=precision,
        literal_int_precision=precision,
        format_source=False,
        rebuild=True,
    )


def run(case, stencil, inputs):
    """The written fields after the run."""
    after = {name: np.ascontiguousarray(inputs[name]).copy() for name in inputs.files}
    fields, origin = {}, {}
    for name, info in stencil.field_info.items():
        if info is None or name not in after:
            fields[name] = None
            continue
        fields[name] = after[name]
        at = dict(zip("IJK", case["origin"].get(name, [0, 0, 0]), strict=True))
        origin[name] = tuple(at[axis] for axis in info.axes) + (0,) * (fields[name].ndim - len(info.axes))
    scalars = {}
    for name, info in stencil.parameter_info.items():
        if info is not None and name in case["scalars"]:
            value = case["scalars"][name]
            scalars[name] = info.dtype.type(value) if info.dtype.name not in PYTHON else PYTHON[info.dtype.name](value)
        else:
            scalars[name] = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        stencil(**fields, **scalars, origin=origin, domain=tuple(case["domain"]))
    return {name: it for name, it in fields.items() if it is not None and name in case["written"]}


PYTHON = {"float64": float, "int64": int, "bool": bool}


def attempt(case, functions):
    """What becomes of a case: a line of `results.jsonl`."""
    folder = pathlib.Path(case["folder"])
    module, definition = load(pathlib.Path(case["source"]), case, oracle.typing_names(case["precision"]))
    if definition is None:
        return {"outcome": "not loaded", "why": module}
    told = []
    path = folder / "in.npz"
    for backend in case["backends"]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                stencil = build(case, module, definition, backend)
        except TooLong:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            told.append(f"{backend}: {type(error).__name__}: {error}")
            continue
        if not case["accepted"]:
            return {"outcome": "accepted", "backend": backend}
        if not path.exists():
            return {"outcome": "accepted", "backend": backend}
        functions.reset()
        try:
            inputs = np.load(path)
            results = []
            for Fill.values in FILLS:
                results.append(run(case, stencil, inputs))
        except TooLong:
            raise
        except Exception as error:  # noqa: BLE001
            told.append(f"{backend} (running): {type(error).__name__}: {error}")
            continue
        arrays = {}
        for name, first in results[0].items():
            second = results[1][name]
            is_same = (first == second) | ((first != first) & (second != second))
            arrays[f"out_{name}"] = first
            if not is_same.all():
                arrays[f"defined_{name}"] = is_same
        np.savez(folder / "out.npz", **arrays)
        return {"outcome": "ran", "backend": backend, "ulps": functions.ulps, "before": told}
    if any("Anything" in it for it in told):
        return {"outcome": "not loaded", "why": "it needs modules that are not there"}
    # Refused by the front end, or only not run by one back end?
    outcome = "failed" if any("(running)" in it for it in told) else "refused"
    return {"outcome": outcome, "why": "; ".join(told)[:2000]}


def main():
    root = pathlib.Path(sys.argv[1])
    functions = Functions(sys.argv[2:])
    for name, ours in TRANSCENDENTAL.items():
        setattr(ufuncs, name, functions.stand_in(ours, getattr(ufuncs, name)))
    ufuncs.pow = ufuncs.power
    Fill.install()
    versions = {
        "about": "Stencils and what gt4py makes of them; written by `cargo xtask agree --keep`.",
        "gt4py": metadata.version("gt4py"),
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    (root / "versions.json").write_text(json.dumps(versions))
    cases = json.loads((root / "cases.json").read_text())
    with open(root / "results.jsonl", "w") as results:
        for count, case in enumerate(cases):
            try:
                with time_limit():
                    result = attempt(case, functions)
            except TooLong as error:
                result = {"outcome": "failed", "why": str(error)}
            except Exception as error:  # noqa: BLE001
                result = {"outcome": "not loaded", "why": f"{type(error).__name__}: {error}"}
            results.write(json.dumps({"id": case["id"], **result}) + "\n")
            results.flush()
            if count % 50 == 49:
                print(f"    {count + 1} of {len(cases)} stencils", flush=True)


if __name__ == "__main__":
    main()
