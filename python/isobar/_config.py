"""What the package uses of this machine: threads, folders, programs. All of it is asked for when it is needed."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

from .errors import CallError

_chosen: dict[str, Any] = {"threads": None}
_lock = threading.Lock()
_temporary: dict[int, str] = {}


def num_threads() -> int:
    """Threads of a run: those that were set, else as `ISOBAR_NUM_THREADS`, `OMP_NUM_THREADS` or `SLURM_CPUS_PER_TASK`
    say, else one for each processor of this process, shared by the ranks of the machine."""
    if _chosen["threads"] is not None:
        return int(_chosen["threads"])
    for name in ("ISOBAR_NUM_THREADS", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"):
        text = os.environ.get(name, "").split(",")[0]
        if text.isdigit() and int(text) > 0:
            return int(text)
    ranks = 1
    for name in ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"):
        text = os.environ.get(name, "")
        if text.isdigit() and int(text) > 0:
            ranks = int(text)
            break
    return max(processors() // ranks, 1)


def set_num_threads(threads: int | None) -> None:
    """Threads of the runs of stencils that are compiled from now on; with `None` as the environment says.

    Raises `CallError` where it is less than one.
    """
    if threads is not None and threads < 1:
        raise CallError(f"a run has one thread or more, and not {threads}")
    _chosen["threads"] = threads


def program_results() -> str:
    """The arrays that are read behind a call of a program which names none, as `ISOBAR_PROGRAM_RESULTS` says: `all`, or
    `arguments`.

    Raises `CallError` where it says something else.
    """
    named = os.environ.get("ISOBAR_PROGRAM_RESULTS", "") or "all"
    if named not in ("all", "arguments"):
        raise CallError(f'`ISOBAR_PROGRAM_RESULTS` is "all" or "arguments", and not "{named}"')
    return named


def processors() -> int:
    """The processors of this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cache_folder() -> Path | None:
    """Where compiled code is kept for other processes: `isobar` in `XDG_CACHE_HOME`, else in `~/.cache`; the same as
    that of the `isobar` command. Nowhere with `ISOBAR_CACHE=off`."""
    named = os.environ.get("ISOBAR_CACHE", "")
    if named == "off":
        return None
    if named:
        return Path(named).absolute()
    given = os.environ.get("XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given) / "isobar"
    home = os.environ.get("HOME", "")
    return Path(home) / ".cache" / "isobar" if home else None


def temporary_folder() -> str:
    """A folder of this process alone, for what a C compiler reads and writes; removed at its end."""
    with _lock:
        found = _temporary.get(os.getpid())
        if found is None:
            found = _temporary[os.getpid()] = _Folder().name
        return found


class _Folder:
    def __init__(self) -> None:
        import atexit
        import shutil

        self.name = tempfile.mkdtemp(prefix="isobar-")
        owner = os.getpid()

        def remove() -> None:
            if os.getpid() == owner:
                shutil.rmtree(self.name, ignore_errors=True)

        atexit.register(remove)


def wanted(backend: str, threads: int | None, mode: str, n_positional: int, *, copies: bool = True) -> Any:
    """What the native part is asked for."""
    needs_files = backend == "openmp"
    return {
        "backend": backend,
        "threads": threads or num_threads(),
        "mode": mode,
        "copies": copies,
        "cache": cache_folder(),
        "temporary": temporary_folder() if needs_files else "",
        "path": os.environ.get("PATH", ""),
        "cc": os.environ.get("CC") or None,
        "n_positional": n_positional,
    }
