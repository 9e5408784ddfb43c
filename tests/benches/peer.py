"""Runs a stencil with gt4py's back ends, or as the NumPy text that Isobar makes of it, a call at a time.

    python tests/benches/peer.py FOLDER

`FOLDER/job.json` tells the stencil, its fields and who is to run it. Each of them is built and called once, and
answers with a line of JSON; then each line on standard input, the number of one of them, is answered with the seconds
that one call took. Fields are raw bytes in Fortran order.
"""

import contextlib
import importlib.util
import json
import os
import pathlib
import signal
import sys
import time

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "agree"), str(TESTS / "golden")]

# What takes longer to be built is given up.
SECONDS = 600


class TooLong(Exception):
    """The stencil does not get ready."""


@contextlib.contextmanager
def time_limit():
    """Ends what is done in it where it takes too long."""

    def stop(*_):
        raise TooLong(f"it is not ready after {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


class Text:
    """The text of the stage `numpy`."""

    def __init__(self, job, folder, fields):
        spec = importlib.util.spec_from_file_location("text", folder / "text.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.function = getattr(module, job["function"])
        self.arguments = [fields[it["name"]] if it["kind"] == "field" else it["value"] for it in job["arguments"]]
        self.where = {"domain": tuple(job["domain"]), "origin": job["origin"]}

    def __call__(self):
        self.function(*self.arguments, **self.where)

    first = __call__


class Gt4py:
    """One back end of gt4py, with its own arrays laid out and aligned as it wants them."""

    def __init__(self, job, name, given):
        import loader
        import oracle
        from gt4py import storage
        from gt4py.cartesian import gtscript
        from gt4py.cartesian.definitions import AccessKind
        from gt4py.cartesian.gtc.passes.oir_pipeline import DefaultPipeline

        backend, _, variant = name.partition(" ")
        precision = job["precision"]
        names = oracle.typing_names(precision)
        module, definition = loader.load(pathlib.Path(job["source"]), job, names)
        if definition is None:
            raise LookupError(module)
        options = {}
        if variant == "unmerged":
            from gt4py.cartesian.gtc.passes.oir_optimizations.horizontal_execution_merging import OnTheFlyMerging

            options["oir_pipeline"] = DefaultPipeline(skip=[OnTheFlyMerging])
        stencil = gtscript.stencil(
            backend=backend,
            definition=definition,
            name=f"{job['function']}_{precision}_{variant or 'plain'}",
            externals={key: loader.external(it, module) for key, it in job["externals"].items()},
            dtypes={float: names["Float"], int: names["Int"]},
            literal_float_precision=precision,
            literal_int_precision=precision,
            format_source=False,
            **options,
        )
        domain = tuple(job["domain"])
        self.fields, self.arguments, origin = {}, {}, {}
        for it in job["arguments"]:
            if it["kind"] == "scalar":
                self.arguments[it["name"]] = np.dtype(it["dtype"]).type(it["value"])
                continue
            array = given[it["name"]]
            # Data dimensions follow the axes.
            n_data = array.ndim - len(it["axes"])
            at = (*it["origin"], *[0] * n_data)
            made = storage.from_array(
                np.ascontiguousarray(array),
                it["dtype"],
                backend=backend,
                aligned_index=at,
                dimensions=(*it["axes"], *[str(n) for n in range(n_data)]),
            )
            self.fields[it["name"]] = self.arguments[it["name"]] = made
            origin[it["name"]] = at
        # What nobody uses has to be there all the same.
        for key, it in {**stencil.field_info, **stencil.parameter_info}.items():
            if key in self.arguments:
                continue
            if it.access != AccessKind.NONE:
                raise LookupError(f"gt4py uses `{key}`, which Isobar does not")
            if key in stencil.field_info:
                sizes = dict(zip("IJK", domain, strict=True))
                shape = (*[sizes[axis] for axis in it.axes], *it.data_dims)
                self.arguments[key] = np.zeros(shape, it.dtype)
                origin[key] = (0,) * it.ndim
            else:
                self.arguments[key] = it.dtype.type(0)
        # What checks its arguments once.
        self.stencil = stencil.freeze(origin=origin, domain=domain)
        self.checked = lambda: stencil(**self.arguments, origin=origin, domain=domain)

    def first(self):
        """A call that fails where the fields are smaller than gt4py asks for."""
        self.checked()

    def __call__(self):
        self.stencil(**self.arguments)


class Contestant:
    """Somebody who is called, built and called once."""

    def __init__(self, job, folder, number, name):
        self.clock = time.process_time if job["clock"] == "processor" else time.perf_counter
        given = {}
        for it in job["arguments"]:
            if it["kind"] == "field":
                flat = np.fromfile(folder / f"in_{it['name']}.bin", it["dtype"])
                given[it["name"]] = flat.reshape(it["shape"], order="F")
        begun = time.perf_counter()
        if name == "numpy text":
            self.run = Text(job, folder, given)
            self.fields = given
        else:
            self.run = Gt4py(job, name, given)
            self.fields = self.run.fields
        self.built = time.perf_counter() - begun
        # Fields that a call changes and reads start every call as they were.
        self.before = {it["name"]: self.fields[it["name"]].copy() for it in job["arguments"] if it.get("is_changed")}
        self.restore()
        self.run.first()
        for it in job["arguments"]:
            if it.get("is_written"):
                array = np.asarray(self.fields[it["name"]])
                array.astype(it["dtype"], copy=False).ravel(order="F").tofile(folder / f"out_{number}_{it['name']}.bin")

    def restore(self):
        """What a call changes and reads is again what it was."""
        for name, array in self.before.items():
            self.fields[name][...] = array

    def timed(self):
        """The seconds of a call."""
        # Once without a clock, so that what others left in the caches is gone for everybody.
        self.restore()
        self.run()
        self.restore()
        begun = self.clock()
        self.run()
        return self.clock() - begun


def main():
    """Builds all, and answers."""
    folder = pathlib.Path(sys.argv[1])
    # Back ends talk; answers go where standard output was.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    job = json.loads((folder / "job.json").read_text())
    contestants = []
    for number, name in enumerate(job["contestants"]):
        try:
            with time_limit():
                contestants.append(Contestant(job, folder, number, name))
            print(json.dumps({"built_s": contestants[-1].built}), file=answers)
        except BaseException as error:  # noqa: BLE001 - whatever it raises is its answer
            contestants.append(None)
            why = " ".join(f"{type(error).__name__}: {error}".split())
            print(json.dumps({"why": why[:400]}), file=answers)
    for line in sys.stdin:
        print(repr(contestants[int(line)].timed()), file=answers)


main()
