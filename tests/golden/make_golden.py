"""Writes the golden data: what gt4py makes of the gallery and of small stencils about single facts.

Run it with a Python that has gt4py (the manifest names the version used), from any folder:

    python tests/golden/make_golden.py [NAME...]

With names, the other entries of the manifest stay. Inputs are random with fixed seeds, so two runs write the same numbers. Every stencil is built by two of
gt4py's back ends, `numpy` and `debug`; where their results differ in a single bit, nothing is written.
Where one of the two cannot run a stencil, the case says why, and the manifest names the other one.
"""

import dataclasses
import hashlib
import json
import math
import pathlib
import platform
import random
import sys
from importlib import metadata

import numpy as np
import oracle
from gt4py.cartesian.gtc import ufuncs
from gt4py.cartesian.gtscript import I, J

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# What stands in written fields before the run, and must still stand outside of the compute domain after it.
UNTOUCHED = -7.5

EXACT = "only operations that IEEE 754 rounds correctly, in one order"
TILE_EDGES = {"i_start": I[0], "i_end": I[-1], "j_start": J[0], "j_end": J[-1]}


@dataclasses.dataclass
class Case:
    """One stencil with its inputs, run in both precisions."""

    name: str
    file: str
    # Per input: bounds of a uniform distribution, or a function of (levels, random numbers in 0..1).
    inputs: dict
    scalars: dict = dataclasses.field(default_factory=dict)
    externals: dict = dataclasses.field(default_factory=dict)
    units: dict = dataclasses.field(default_factory=dict)
    # Three different sizes, so that a mix-up of axes shows.
    domain: tuple = (9, 7, 8)
    # The back end that cannot run it, and why.
    without: tuple = ()
    # Whether there are functions whose last bits are nobody's to say.
    is_transcendental: bool = False


def gallery(name, **rest):
    return Case(name=name, file=f"static/gallery/{name}.py", **rest)


def fact(name, **rest):
    return Case(**{"name": name, "file": f"tests/golden/facts/{name}.py", "domain": (5, 4, 6)} | rest)


def along_k(first, last, noise):
    """A profile from the first to the last level, with noise at every point."""
    return lambda level, chance: first + (last - first) * level + noise * (2.0 * chance - 1.0)


WHILE = ("numpy", "the condition of a `while` is not evaluated per point")

CASES = [
    gallery("copy_scale", inputs={"q_in": (-3, 3)}, scalars={"factor": 2.3}),
    gallery(
        "horizontal_diffusion",
        inputs={"q": (-1, 2), "coeff": (0, 1)},
        scalars={"alpha": 0.025},
        units={"alpha": "1", "coeff": "1"},
    ),
    gallery(
        "vertical_advection",
        inputs={"u": (-20, 30), "w": (-1, 1), "u_tendency": (-1e-3, 1e-3), "rdz": (0.002, 0.01)},
        scalars={"dt": 60.0},
        units={"u": "m/s", "w": "m/s", "u_tendency": "m/s2", "rdz": "1/m", "u_new": "m/s", "dt": "s"},
    ),
    gallery(
        "ppm_transport",
        inputs={"q": (0, 1), "courant": (-0.9, 0.9), "dx": (0.8, 1.2)},
        externals={"i_start": I[0], "i_end": I[-1], "iord": 3},
        units={"courant": "1"},
    ),
    gallery(
        "column_physics",
        inputs={
            "theta": along_k(340.0, 297.0, 2.0),
            # Some of it saturated, some dry; some without cloud, some with heavy rain.
            "qv": lambda level, chance: 0.016 * (level**2 + 0.01) * (0.4 + 0.9 * chance),
            "qc": lambda level, chance: np.maximum(4e-3 * chance - 1.5e-3, 0.0),
            "p_face": along_k(20000.0, 100000.0, 100.0),
        },
        scalars={"dt": 300.0},
        units={
            "theta": "K",
            "qv": "kg/kg",
            "qc": "kg/kg",
            "p_face": "Pa",
            "precip": "kg/m2",
            "cloud_top": "m",
            "dt": "s",
        },
        without=WHILE,
        is_transcendental=True,
    ),
    fact("region_edges", inputs={"a": (-1, 1)}, externals=TILE_EDGES),
    fact("nested_functions", inputs={"a": (-1, 1), "weight": (0, 1)}, scalars={"scale": 0.3}),
    fact("forward_values", inputs={"a": (-1, 1), "b": (-1, 1)}),
    fact("temporary_types", inputs={"a": (-2, 2)}),
    fact(
        "mixed_numbers",
        inputs={"single": (-2, 2), "double": (-9, 9), "short": (-50, 50), "long": (3, 99)},
    ),
    fact("ternaries", inputs={"a": (-2, 2), "b": (-2, 2)}, scalars={"limit": 0.1}),
    fact("conditions", inputs={"a": (-2, 2), "b": (-2, 2)}),
    fact("plane_accumulation", inputs={"a": (-1, 1), "first": (2, 3), "last": (2, 3)}),
    fact("level_profiles", inputs={"a": (-1, 1), "face": along_k(0, 8, 0.3), "plane": (-1, 1)}),
    fact("interval_splits", domain=(4, 3, 7), inputs={"a": (-1, 1), "gaps": (5, 6)}),
    fact(
        "inlined_branches",
        inputs={"a": (-1, 1), "unused": (-1, 1)},
        scalars={"scale": 0.7},
        externals={"do_shift": True, "factor": 0.3, "order": 1},
    ),
    fact("remainders_and_extremes", inputs={"a": (-3, 3), "b": (0.5, 2), "m": (-50, 50), "n": (1, 9)}),
    fact(
        "powers",
        inputs={"a": (0.1, 5), "n": (-9, 9)},
        scalars={"exponent": 0.525},
        is_transcendental=True,
    ),
    fact("loops", inputs={"a": (0.1, 9)}, scalars={"tolerance": 1e-3}, without=WHILE),
]


def layout(info, domain):
    """Axes, origin and shape of a field: as much halo as is needed, and a point to spare at the far end."""
    axes = "".join(info.axes)
    needed = dict(zip("IJK", info.boundary, strict=True))
    origin = [max(needed[axis][0], 0) for axis in axes]
    spare = {"I": 1, "J": 1, "K": 0}
    shape = [
        at + domain["IJK".index(axis)] + max(needed[axis][1], 0) + spare[axis]
        for axis, at in zip(axes, origin, strict=True)
    ]
    return axes, origin, shape


def make_input(source, axes, shape, dtype, chance):
    """One input field; integers include their upper bound."""
    level = np.linspace(0.0, 1.0, shape[-1]) if axes.endswith("K") else np.zeros(shape[-1])
    random_numbers = chance.random(shape)
    if callable(source):
        return source(level, random_numbers).astype(dtype)
    low, high = source
    if np.issubdtype(dtype, np.integer):
        return np.floor(low + (high + 1 - low) * random_numbers).astype(dtype)
    return (low + (high - low) * random_numbers).astype(dtype)


def run(case, precision, backend):
    """Runs a case; returns the stencil, the fields before and after, and their origins."""
    stencil = oracle.build(ROOT / case.file, case.name, precision, backend, case.externals)
    # The inputs do not depend on the precision or on the back end, but for rounding.
    chance = np.random.default_rng(int.from_bytes(case.name.encode(), "big") % 2**32)
    before, origin = {}, {}
    for name, info in stencil.field_info.items():
        if info is None or not info.axes:
            continue
        axes, at, shape = layout(info, case.domain)
        origin[name] = tuple(at)
        if name in case.inputs:
            before[name] = make_input(case.inputs[name], axes, shape, info.dtype, chance)
        else:
            before[name] = np.full(shape, UNTOUCHED).astype(info.dtype)
    after = {name: array.copy() for name, array in before.items()}
    scalars = {
        name: info.dtype.type(case.scalars[name]) if precision == 32 else case.scalars[name]
        for name, info in stencil.parameter_info.items()
    }
    missing = {name: None for name in case.inputs if name not in before}
    stencil(**after, **scalars, **missing, origin=origin, domain=case.domain)
    return stencil, before, after, origin


def external(value):
    """A value in the form of the command line's `--externals`."""
    if hasattr(value, "axis"):
        return {"axis": str(value.axis), "index": value.index, "offset": value.offset}
    return value


def nudged(function, how):
    """The function with results moved by one unit in the last place."""

    def moved(*arguments):
        value = function(*arguments)
        return np.nextafter(value, type(value)(how() * math.inf)) if isinstance(value, np.floating) else value

    return moved


def sensitivity(case, precision, backend, after):
    """How far outputs move when exp, log and ** are one unit in the last place off, per field.

    In units in the last place of the largest magnitude of the field: small differences of large
    numbers have no correct last place of their own.
    """
    chance = random.Random(1)
    worst = dict.fromkeys(after, 0.0)
    names = ("exp", "log", "power")
    originals = {name: getattr(ufuncs, name) for name in names}
    for how in (lambda: 1, lambda: -1, lambda: chance.choice((-1, 1)), lambda: chance.choice((-1, 1))):
        for name in names:
            setattr(ufuncs, name, nudged(originals[name], how))
        try:
            _, _, moved, _ = run(case, precision, backend)
        finally:
            for name in names:
                setattr(ufuncs, name, originals[name])
        for name, array in after.items():
            if np.issubdtype(array.dtype, np.floating):
                unit = np.spacing(np.abs(array).max())
                worst[name] = max(worst[name], float(np.abs(moved[name] - array).max() / unit))
    return worst


def tolerances(case, precision, backend, outputs):
    """The allowed distance per output, with the reason."""
    if not case.is_transcendental:
        return {name: {"ulp": 0, "of": "value", "reason": EXACT} for name in outputs}
    reason = (
        "exp, log and ** may differ by some units in the last place: four times what the output moves "
        "when each of them is one unit off"
    )
    allowed = {}
    for name, moved in sensitivity(case, precision, backend, outputs).items():
        ulp = 2 ** max(math.ceil(math.log2(4.0 * moved)), 0) if moved > 0 else 0
        allowed[name] = {"ulp": ulp, "of": "largest", "reason": reason if ulp else EXACT}
    return allowed


def write(case, precision):
    """Runs one case in one precision, writes its file and returns its entry of the manifest."""
    backends = [name for name in ("numpy", "debug") if name not in case.without[:1]]
    # Only `debug` takes functions one value at a time, as the measure of their influence wants it.
    if case.is_transcendental:
        backends.reverse()
    stencil, before, after, origin = run(case, precision, backends[0])
    for other in backends[1:]:
        _, _, again, _ = run(case, precision, other)
        for name, array in after.items():
            is_same = np.array_equal(array, again[name], equal_nan=True)
            if not is_same and not case.is_transcendental:
                raise SystemExit(f"{case.name} {precision}: {backends[0]} and {other} differ in {name}")
    infos = {name: stencil.field_info[name] for name in before}
    outputs = {name: after[name] for name, info in infos.items() if "WRITE" in str(info.access)}
    for name, array in {**before, **outputs}.items():
        if not np.isfinite(array).all():
            raise SystemExit(f"{case.name} {precision}: {name} is not finite")

    path = (ROOT / case.file).with_suffix("") if "facts" in case.file else HERE / case.name
    path = path.with_name(f"{path.name}_f{precision}.npz")
    arrays = {f"in_{name}": array for name, array in before.items()}
    arrays |= {f"out_{name}": array for name, array in outputs.items()}
    np.savez_compressed(path, **arrays)
    return {
        "file": path.relative_to(HERE).as_posix(),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "stencil_file": case.file,
        "stencil": case.name,
        "precision": precision,
        "backend": backends[0],
        "agrees_with": [] if case.is_transcendental else backends[1:],
        "not_run": [{"backend": case.without[0], "reason": case.without[1]}] if case.without else [],
        "domain": list(case.domain),
        "min_levels": stencil.domain_info.min_sequential_axis_size,
        "origin": {name: list(at) for name, at in origin.items()},
        "scalars": {
            name: {"dtype": str(info.dtype), "value": case.scalars[name]}
            for name, info in stencil.parameter_info.items()
        },
        "externals": {name: external(value) for name, value in case.externals.items()},
        "fields": {
            name: {
                "axes": "".join(info.axes),
                "dtype": str(info.dtype),
                "shape": list(before[name].shape),
                "units": case.units.get(name, ""),
                "access": str(info.access).removeprefix("AccessKind.").lower(),
                "boundary": [list(side) for side in info.boundary],
            }
            for name, info in infos.items()
        },
        "tolerance": tolerances(case, precision, backends[0], outputs),
    }


def as_text(manifest):
    """JSON with one line per entry of a case, so that a changed result is a changed line."""
    cases = [
        "    {\n" + ",\n".join(f"      {json.dumps(key)}: {json.dumps(value)}" for key, value in case.items()) + "\n    }"
        for case in manifest["cases"]
    ]
    head = [f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in manifest.items() if key != "cases"]
    return "{\n" + "".join(head) + '  "cases": [\n' + ",\n".join(cases) + "\n  ]\n}\n"


def main():
    path = HERE / "manifest.json"
    wanted = sys.argv[1:] or [case.name for case in CASES]
    known = json.loads(path.read_text())["cases"] if path.exists() else []
    entries = [entry for entry in known if entry["stencil"] not in wanted]
    for case in CASES:
        for precision in (64, 32) if case.name in wanted else ():
            entries.append(write(case, precision))
            print(entries[-1]["file"], (HERE / entries[-1]["file"]).stat().st_size, "bytes", flush=True)
    order = [case.name for case in CASES]
    entries.sort(key=lambda entry: (order.index(entry["stencil"]), -entry["precision"]))
    manifest = {
        "about": "Inputs (in_*) and results (out_*) of stencils, run by gt4py; whole arrays with halo, in C order. "
        "Written by make_golden.py.",
        "made_with": {
            "gt4py": metadata.version("gt4py"),
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "cases": entries,
    }
    path.write_text(as_text(manifest))


if __name__ == "__main__":
    main()
