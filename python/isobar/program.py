"""Methods of objects as programs: all stencils that a method calls, with its loops, conditions and numbers, as one."""

from __future__ import annotations

import json
from typing import Any

from . import _config, _native
from ._objects import Given, Walker, bound, walk
from .errors import CallError, CallTypeError, IsobarError
from .stencil import FAILURES, of_call, told


# What a request says of all its stencils.
_OPTIONS = ("dtypes", "literal_int_precision", "literal_float_precision")


class ProgramError(IsobarError):
    """A method that no program says, or a run of one that ended early.

    `diagnostics` are all that were found, each a dictionary with `code`, `message`, `file`, `start` and `help`.
    """

    def __init__(self, message: str, diagnostics: list[dict[str, Any]]):
        super().__init__(message)
        self.diagnostics = diagnostics


class Program:
    """A method of an object, compiled when it is first called.

    It is called as the method is: arrays are updated in place, and numbers may differ from call to call. Arrays that are
    attributes of objects are read and written where they lie. What else the objects hold is fixed: where an attribute has
    changed, or a call has arrays of other shapes, the method is compiled anew.
    """

    def __init__(
        self,
        method: Any,
        domain: tuple[int, int, int] | None = None,
        *,
        halo: Any = None,
        exchange: str = "none",
        backend: str = "rayon",
        threads: int | None = None,
        results: Any = None,
    ):
        results = _config.program_results() if results is None else results
        if isinstance(results, str) and results not in ("all", "arguments"):
            raise CallError(f'`results` is "all", "arguments" or a list of arrays, and not "{results}"')
        self._results = results if isinstance(results, str) else list(results)
        self._method = method
        self._domain = None if domain is None else tuple(int(it) for it in domain)
        halo = 0 if halo is None and domain is not None else halo
        self._halo = (halo, halo, 0) if isinstance(halo, int) else halo if halo is None else tuple(halo)
        self._exchange, self._threads = exchange, threads
        self._backend = "rayon" if backend == "isobar" else backend.removeprefix("isobar:")
        self._native: Any = None
        self._key: Any = None
        self._known: tuple[Walker, Given] | None = None
        self._hosts: dict[str, Any] = {}
        # The names of the fields that it is given: all arrays but those that are its locals.
        self._fields: list[str] = []
        # Whether halo updaters are exchanges of the program, or callbacks.
        self._exchanges_itself = True
        # Whether a callback may change what the program was compiled with.
        self._may_change = False
        self.__name__ = f"{type(method.__self__).__name__}.{method.__name__}"
        self.__doc__ = method.__doc__

    @property
    def text(self) -> str:
        """The program as the compiler has it; the method has to be called before."""
        if self._native is None:
            raise CallError(f"`{self.__name__}` was not called yet")
        text: str = self._native.text
        return text

    @property
    def memory(self) -> dict[str, int]:
        """The bytes of its fields; the method has to be called before.

        `given` is that of the arrays that a call passes, and `state` that of fields which it keeps. Locals that live at
        different times share the bytes of `locals`; `locals_alone` would be theirs with an array for each. Locals that a
        single group of calls touches take none.
        """
        if self._native is None:
            raise CallError(f"`{self.__name__}` was not called yet")
        told = self._native.memory
        if told is None:
            raise CallError(f"`{self.__name__}` runs, in another thread")
        return dict(zip(("given", "state", "locals", "locals_alone"), told))

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Calls the method.

        Raises `ProgramError` where the method does what no program says, and where a run ends early; `CallError` where an
        array does not fit.
        """
        try:
            values = bound(self._method, args, kwargs)
        except TypeError as error:
            raise CallTypeError(str(error)) from None
        known = self._known
        again = known[1].again(known[0], values) if known is not None else None
        if known is None or again is None:
            graph, walker, given = self._walk(values)
        else:
            walker, given = known
        try:
            if again is None:
                key = json.dumps(graph)
                if self._native is None or self._key != key:
                    self._known = None
                    try:
                        self._native = self._compiled(key, walker)
                    except _native.Refused:
                        if not walker.exchanges:
                            raise
                        # NDSL's own updaters go on from one call to the next, and start where others do not wait.
                        self._exchanges_itself = False
                        graph, walker, given = self._walk(values)
                        key = json.dumps(graph)
                        self._native = self._compiled(key, walker)
                    self._key = key
                    self._fields = self._native.fields
                    document = json.loads(self._native.document)
                    self._hosts = document.get("hosts", {})
                    self._may_change = _calls_back(document["body"])
                arrays = {it.name: it.array for it in walker.arrays if it.role == "argument"}
                scalars = {name: values[parameter] for parameter, name in given.scalars.items()}
                self._known = walker, given
            else:
                arrays, scalars = again
            arrays = {name: arrays[name] for name in self._fields}
            self._native.run(arrays, scalars, lambda name: self._answer(name, walker), walker.communicator)
            changed = walker.changed() if self._may_change else None
        except _native.Refused as refused:
            raise _program_error(json.loads(refused.args[0]), walker) from None
        except FAILURES as error:
            raise of_call(error, None) from None  # type: ignore[arg-type]

        if changed is not None:
            why = f"a callback changed `{changed}`, which `{self.__name__}` was compiled with"
            raise ProgramError(f"{why}: the fields hold what the old value gives", [])

    def _walk(self, values: dict[str, Any]) -> tuple[dict[str, Any], Walker, Given]:
        frame = self._domain, self._halo
        return walk(self._method, values, frame, self.__name__, self._exchanges_itself, self._results)

    def _answer(self, name: str, walker: Walker) -> None:
        """A callback of the program."""
        told = self._hosts[name]
        args = [walker.value(it) for it in told["args"]]
        keywords = {key: walker.value(it) for key, it in told["keywords"].items()}
        walker.hosts[told["callback"]](*args, **keywords)

    def _compiled(self, document: str, walker: Walker) -> Any:
        wanted = _config.wanted(self._backend, self._threads, "reproducible", 0)
        requests = [it.made._captured.request for _, it in walker.stencils]
        options = [{name: it[name] for name in _OPTIONS if name in it} for it in requests]
        if any(it != options[0] for it in options):
            raise CallError("the stencils of a program have one meaning of types and literals")
        told = json.dumps(options[0] if options else {}, sort_keys=True)
        return _native.Program(document, wanted, walker.domain, self._exchange, told)


def program(
    obj: Any,
    method: str = "__call__",
    *,
    domain: tuple[int, int, int] | None = None,
    halo: Any = None,
    exchange: str = "none",
    backend: str = "rayon",
    threads: int | None = None,
    results: Any = None,
) -> Program:
    """A method of an object as one program.

    `domain` is the number of points along I, J, K on which its stencils run, and `halo` the index of the first of them in
    each array: one number for I and J, or one for each axis. Stencils of NDSL know both themselves. `exchange` says what halo updates store: `none`, `periodic`
    or `zero-gradient`.

    `results` says which arrays are read behind a call: `all` of them, the `arguments` of the method and what these hold, or
    a list of arrays and quantities. Without it, `ISOBAR_PROGRAM_RESULTS` says `all` or `arguments`. Arrays that are no
    results become locals where each call writes every element before it reads that. They are faster, share
    memory, and leave what the object holds as it was.

        step = isobar.program(model, domain=(64, 64, 20), halo=3)
        step(q, dt=0.1)
    """
    return Program(getattr(obj, method), domain, halo=halo, exchange=exchange, backend=backend, threads=threads, results=results)


def _calls_back(body: Any) -> bool:
    """Whether statements have a callback that may touch anything."""
    if isinstance(body, list):
        return any(_calls_back(it) for it in body)
    if not isinstance(body, dict):
        return False
    return "host" in body and not body.get("exact", False) or any(_calls_back(it) for it in body.values())


def _program_error(found: list[dict[str, Any]], walker: Walker) -> ProgramError:
    paths = {name: path for path, name in walker.paths.items()}
    for it in found:
        it["file"] = paths.get(it["file"], it["file"])
        for other in it.get("related", ()):
            other["file"] = paths.get(other["file"], other["file"])
    errors = [it for it in found if it["severity"] == "error"] or found
    lines = []
    for it in errors:
        lines.append(f"{it['file']}:{it['start']['line']}: {told(it)}")
        lines.extend(f"  {other['file']}:{other['start']['line']}: {other['message']}" for other in it.get("related", ()))
    return ProgramError("\n".join(lines) or "the program is refused", found)
