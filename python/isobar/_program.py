"""Programs that know nothing of Isobar: run with its back ends there."""

from __future__ import annotations

import importlib
import runpy
import sys


def run_program(module: str, arguments: list[str]) -> None:
    """Runs a program as `python -m MODULE program.py args...` does; importing the module makes the back ends known."""
    if not arguments:
        sys.exit(f"usage: python -m {module} model.py args...")
    # As the module that others import, so that there is one of it.
    importlib.import_module(module)
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")
