"""PyFV3's step as one library of C: six ranks call it, and a function of theirs carries out its exchanges and callbacks.

`python exported.py FOLDER pyfv3.py --config ... --program` runs `pyfv3.py`, whose last line has the hashes of the states:
those of the step as a program. Rank 0's document is exported to FOLDER by the program that ISOBAR_BIN names, and built
with `cc`. All ranks call this library, each with the plans of its own document.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pathlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import isobar

NAME = "step"
programs = importlib.import_module("isobar.program")
lock, compiled = threading.Lock(), programs.Program._compiled


def built(folder, document, domain):
    """The module of the exported library."""
    (folder / "step.json").write_text(document)
    project = folder / NAME
    export = [os.environ["ISOBAR_BIN"], "export", "--program", folder / "step.json", "-o", project, "--name", NAME]
    export += ["--halo", "caller", "--bindings", "c,python", "--domain", ",".join(map(str, domain))]
    subprocess.run(export, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    readme = (project / "README.md").read_text()
    line = next(it for it in readme.splitlines() if "-shared" in it).replace("-O3", "-O1").split()
    sources = [it for it in line if it.endswith(".c")]
    flags = [it for it in line[1 : line.index(sources[0])] if it != "-shared"]

    def compile_one(source):
        subprocess.run(["cc", *flags, "-c", source, "-o", f"{source}.o"], cwd=project, check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sources))
    objects = [f"{it}.o" for it in sources]
    subprocess.run(["cc", "-shared", "-fopenmp", *objects, "-o", f"lib{NAME}.so", "-lm"], cwd=project, check=True)
    os.environ[f"{NAME.upper()}_LIBRARY"] = str(project / f"lib{NAME}.so")
    sys.path.insert(0, str(project / "python"))
    return importlib.import_module(NAME)


def strip(array, along):
    """A strip of a plan, with its dimensions in the order of the message."""
    index, order = [slice(0, 1)] * array.ndim, []
    for dimension, first, n, step in along:
        end = first + n * step
        index[dimension] = slice(first, end if end >= 0 else None, step)
        order.append(dimension)
    others = [it for it in range(array.ndim) if it not in order]
    part = array[tuple(index)].transpose(order + others)
    return part.reshape(part.shape[: len(order)])


class Exported:
    """The native part of a program, whose runs call the library."""

    module = None

    def __init__(self, folder, native, communicator, domain):
        document = json.loads(native.document)
        self.text, self.document, self.fields, self.memory = native.text, native.document, native.fields, native.memory
        self.plans, self.described, self.domain = document["plans"], document["fields"], domain
        self.scalars = [name for name, it in document["scalars"].items() if it["role"] == "argument"]
        self.communicator = communicator
        with lock:
            Exported.module = Exported.module or built(folder, native.document, domain)
        (self.function,) = [it for name, it in vars(self.module).items() if inspect.isfunction(it) and name[0] != "_"]
        self.parameters = list(inspect.signature(self.function).parameters)

    def origin(self, name):
        told = self.described[name]
        while "like" in told:
            told = {**self.described[told["like"]], **{key: it for key, it in told.items() if key != "like"}}
        return tuple(told.get("origin") or [3 if axis in "IJ" else 0 for axis in told["axes"]])

    def run(self, arrays, scalars, host, _):
        def answer(event):
            if event.event == "callback":
                return host(event.name)
            plan = self.plans[event.name]
            fields = [np.asarray(it) for parts in event.fields.values() for it in parts]
            parts_of = {way: lambda it, way=way: it.get(way, []) for way in ("send", "receive")}
            sign = {True: -1, False: 1}
            if event.event in ("start", "update"):
                for it in plan["neighbours"]:
                    parts = [strip(fields[s["field"]], s["along"]) * sign[s.get("negated", False)] for s in parts_of["send"](it)]
                    if parts:
                        message = np.concatenate([part.ravel() for part in parts])
                        self.communicator.Isend(message, dest=it["rank"], tag=plan["tag"])
            if event.event in ("wait", "update"):
                for it in plan["neighbours"]:
                    strips = parts_of["receive"](it)
                    parts = [strip(fields[s["field"]], s["along"]) for s in strips]
                    if parts:
                        message, at = np.empty(sum(part.size for part in parts), parts[0].dtype), 0
                        self.communicator.Irecv(message, source=it["rank"], tag=plan["tag"]).wait()
                        for part, s in zip(parts, strips):
                            part[...] = message[at : at + part.size].reshape(part.shape) * sign[s.get("negated", False)]
                            at += part.size
            return None

        given = [arrays[name] for name in self.fields]
        origin = {parameter: self.origin(name) for parameter, name in zip(self.parameters, self.fields)}
        values = given + [scalars[name] for name in self.scalars]
        self.function(*values, answer=answer, domain=self.domain, origin=origin, threads=1)
        return 0


def main():
    folder = pathlib.Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)

    def exported(self, key, walker):
        native = compiled(self, key, walker)
        return Exported(folder, native, walker.communicator, tuple(walker.domain))

    programs.Program._compiled = exported
    sys.argv = sys.argv[2:]
    sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
    exec(compile(pathlib.Path(sys.argv[0]).read_text(), sys.argv[0], "exec"), {"__name__": "__main__"})


main()
