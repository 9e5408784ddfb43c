"""Loads, validates, compiles and runs `.sdfg` files with the DaCe at hand, each in a process of its own.

The list of cases is a JSON file; what became of each is written beside its result, which is the whole of
each field in C order.
"""

import json
import os
import pathlib
import signal
import sys
import warnings

import numpy as np

FLAGS = "-std=c++20 -fPIC -O1 -fno-fast-math -ffp-contract=off -w"


def settings():
    os.environ["DACE_compiler_cpu_args"] = FLAGS
    os.environ["DACE_compiler_build_type"] = "RelWithDebInfo"
    os.environ["DACE_compiler_allow_view_arguments"] = "1"
    os.environ["DACE_testing_deserialize_exception"] = "1"
    os.environ["DACE_progress"] = "0"
    # The build tool may come with the environment.
    os.environ["PATH"] = str(pathlib.Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]


def link(graph, sdfg):
    """Tells the branches of a graph where they are: DaCe 1 forgets it when it reads a file."""
    from dace.sdfg.state import ConditionalBlock, ControlFlowRegion

    for block in graph.nodes():
        block.parent_graph, block.sdfg = graph, sdfg
        if isinstance(block, ConditionalBlock):
            for _, branch in block.branches:
                branch.parent_graph, branch.sdfg = graph, sdfg
                link(branch, sdfg)
        elif isinstance(block, ControlFlowRegion):
            link(block, sdfg)


def check(dace, case, out):
    told = {"loaded": False, "validated": False, "compiled": False, "ran": False}
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sdfg = dace.SDFG.from_file(case["file"])
            told["loaded"] = True
            sdfg.validate()
        told["warnings"] = sorted({str(it.message)[:200] for it in said})
        # What is read and was never written is a fault of the graph, where we say nothing of it ourselves.
        undefined = [it for it in told["warnings"] if "uninitialized" in it]
        if undefined and not case["has_warnings"]:
            raise ValueError(undefined[0])
        told["validated"] = True
        if dace.__version__.startswith("1."):
            for inner in list(sdfg.all_sdfgs_recursive()):
                link(inner, inner)
            sdfg.reset_cfg_list()
        sdfg.build_folder = str(out / "build")
        program = sdfg.compile()
        told["compiled"] = True
        arguments, whole = dict(case["symbols"]), {}
        for name, it in case["fields"].items():
            array = np.fromfile(it["file"], dtype=it["dtype"]).reshape(it["shape"])
            whole[name] = array
            window = tuple(slice(start, start + n) for start, n in zip(it["start"], it["window"]))
            arguments[name] = array[window]
        for name, it in case["scalars"].items():
            arguments[name] = np.dtype(it["dtype"]).type(it["value"])
        program(**arguments)
        told["ran"] = True
        for name, array in whole.items():
            array.tofile(out / name)
    except BaseException as error:
        text = str(error) or type(error).__name__
        told["error"] = f"{type(error).__name__}: {text[:600]}"
    (out / "told.json").write_text(json.dumps(told))


def main():
    settings()
    import dace

    cases = json.loads(pathlib.Path(sys.argv[1]).read_text())
    root = pathlib.Path(sys.argv[2])
    (root / "version").write_text(dace.__version__)
    for case in cases:
        out = root / f"{case['id']}-{case['form']}"
        out.mkdir(parents=True, exist_ok=True)
        child = os.fork()
        if child == 0:
            log = os.open(out / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.chdir(out)
            signal.alarm(600)
            check(dace, case, out)
            os._exit(0)
        os.waitpid(child, 0)


main()
