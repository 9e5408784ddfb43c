"""Holds the texts of `values.txt` against Python: what they say of `it` is so, whatever the machine has set up.

Usage: python values.py compiler/front/src/frontend/tests/values.txt
"""

import contextlib
import importlib
import io
import os
import re
import sys
import tempfile


def cases(text):
    """Yields the name, the files by name, and what is expected of each case."""
    found = []
    for line in text.splitlines():
        if line.startswith("=== "):
            found.append([line[4:], {"main.py": []}, ""])
            file = "main.py"
        elif line.startswith(">>> "):
            found[-1][2] = line[4:]
        elif line.startswith("--- "):
            file = line[4:]
            found[-1][1][file] = []
        else:
            found[-1][1][file].append(line + "\n")
    return [(name, {file: "".join(lines) for file, lines in files.items()}, it) for name, files, it in found]


def value(files):
    """What the main file leaves as `it`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            sys.modules.pop(name.removesuffix(".py"), None)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        names = {"__name__": "main"}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(files["main.py"], "main.py", "exec"), names)
        except Exception as error:  # each is an outcome
            return f"raises {type(error).__name__}"
        finally:
            sys.path.remove(folder)
    return re.sub(r"np\.(\w+)\(([^()]*)\)", r"\1(\2)", repr(names["it"]))


def main():
    """Ends with the number of texts that Python gives another value."""
    with open(sys.argv[1], encoding="utf-8") as file:
        all_cases = cases(file.read())
    held, wrong = 0, 0
    for name, files, expected in all_cases:
        # What is said not to be known may also never end.
        if expected.startswith("unknown"):
            continue
        held += 1
        for home in ("/root", None):
            os.environ.pop("HOME", None)
            if home is not None:
                os.environ["HOME"] = home
            found = value(files)
            if found != expected:
                wrong += 1
                print(f"{name}: Python says {found}, and {expected} is written")
    print(f"{held} texts are held against Python, {wrong} differ")
    sys.exit(min(wrong, 1) if held else 1)


if __name__ == "__main__":
    main()
