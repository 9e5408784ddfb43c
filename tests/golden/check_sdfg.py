#!/usr/bin/env python3
"""Check `.sdfg` files with the library that defines the format.

    check_sdfg.py NAME_PRECISION.sdfg ...      e.g. horizontal_diffusion_64.sdfg

Each file is loaded, validated, compiled and run on the golden inputs of its name and precision;
the results are compared with the golden ones. It needs dace 2.0 or later from PyPI, and a C++
compiler. dace compiles with its own flags and functions, so the comparison is a loose one.
"""

import json
import os
import pathlib
import sys
import tempfile

os.environ["DACE_compiler_allow_view_arguments"] = "1"  # arrays lie inside larger ones

import dace
import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent
CLOSE = {"64": 1e-9, "32": 1e-3}


def check(path):
    stencil, precision = path.stem.rsplit("_", 1)
    graph = dace.SDFG.from_file(str(path))
    graph.validate()
    manifest = json.loads((GOLDEN / "manifest.json").read_text())
    file = f"{stencil}_f{precision}.npz"
    (case,) = (it for it in manifest["cases"] if it["file"] == file)
    data = np.load(GOLDEN / file)

    descriptors = json.loads(path.read_text())["attributes"]["_arrays"]
    arguments = dict(zip("IJK", case["domain"]))
    arrays = {}
    for name, field in case["fields"].items():
        arrays[name] = data[f"in_{name}"].copy()
        # The graph's arrays start at the first element that is touched.
        shift = descriptors[name]["attributes"]["_meta_shift"]
        origin = case["origin"][name]
        if len(origin) == 3:
            origin = [origin["IJK".index(axis)] for axis in field["axes"]]
        start = tuple(slice(at - moved, None) for at, moved in zip(origin, shift))
        arguments[name] = arrays[name][start]
        for axis, stride in zip(field["axes"], arrays[name].strides):
            arguments[f"__{name}_{axis}_stride"] = stride // arrays[name].itemsize
    for name, scalar in case["scalars"].items():
        arguments[name] = np.dtype(scalar["dtype"]).type(scalar["value"])

    graph(**arguments)
    for name in case["tolerance"]:
        np.testing.assert_allclose(arrays[name], data[f"out_{name}"], rtol=CLOSE[precision], atol=CLOSE[precision])


def main():
    paths = [pathlib.Path(it).resolve() for it in sys.argv[1:]]
    os.chdir(tempfile.mkdtemp())
    print("dace", dace.__version__)
    failed = 0
    for path in paths:
        try:
            check(path)
            print("ok  ", path.name)
        except Exception as error:  # every file is tried
            failed += 1
            print("FAIL", path.name, type(error).__name__, str(error)[:2000])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
