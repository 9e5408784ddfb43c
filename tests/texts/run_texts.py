"""Runs generated texts under Python, and compares their fields with what `debug` left, bit by bit.

    python run_texts.py FOLDER

FOLDER has a folder for each case, with `case.json`, the text, and the arrays before and after as raw
little-endian bytes in C order. What each case came to is printed as a line of JSON. The texts of the
stage `python` get nested lists, so that they run without NumPy; the others get arrays.
"""

import array
import importlib.util
import json
import math
import pathlib
import sys
import traceback

CODES = {"bool": "b", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}


def elements(path, dtype):
    flat = array.array(CODES[dtype])
    flat.frombytes(path.read_bytes())
    return flat


def nested(flat, shape, dtype):
    """Lists of lists; a field without dimensions is its one element in a list of its own."""
    if not shape:
        return bool(flat[0]) if dtype == "bool" else flat[0]
    size = len(flat) // shape[0] if shape[0] else 0
    return [nested(flat[at * size : (at + 1) * size], shape[1:], dtype) for at in range(shape[0])]


def flattened(value, depth):
    if depth == 0:
        return [value]
    return [it for row in value for it in flattened(row, depth - 1)]


def first_difference(name, found, meant):
    for at, (one, other) in enumerate(zip(found, meant, strict=True)):
        is_nan = isinstance(other, float) and math.isnan(other)
        if is_nan and isinstance(one, float) and math.isnan(one):
            continue
        if one != other or math.copysign(1, one) != math.copysign(1, other):
            return f"`{name}` is {one!r} at {at}, and {other!r} is meant"
    return None


def run(folder):
    case = json.loads((folder / "case.json").read_text())
    spec = importlib.util.spec_from_file_location("text", folder / "text.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    positional, keywords = [], {}
    arrays = {}
    for it in case["arguments"]:
        if it["kind"] == "field":
            flat = elements(folder / f"in_{it['name']}.bin", it["dtype"])
            if case["stage"] == "python":
                value = nested(flat, it["shape"], it["dtype"])
            else:
                import numpy as np

                value = np.frombuffer(flat.tobytes(), it["dtype"]).reshape(it["shape"]).copy()
            arrays[it["name"]] = value
        else:
            value = it.get("value")
            if isinstance(value, str):
                value = float(value)
        if it["keyword"]:
            keywords[it["name"]] = value
        else:
            positional.append(value)
    function = getattr(module, case["function"])
    try:
        function(*positional, **keywords, domain=tuple(case["domain"]), origin=case["origin"])
    except IndexError:
        return None if case["stops"] else "it stops: " + traceback.format_exc(limit=-2)
    if case["stops"]:
        return "it does not stop"
    for it in case["arguments"]:
        if it["kind"] != "field":
            continue
        meant = elements(folder / f"out_{it['name']}.bin", it["dtype"])
        value = arrays[it["name"]]
        if case["stage"] == "python":
            found = flattened(value, len(it["shape"]))
        else:
            found = value.ravel().tolist()
        wrong = first_difference(it["name"], found, meant)
        if wrong:
            return wrong
    return None


def main():
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*/case.json")):
        try:
            wrong = run(path.parent)
        except Exception:
            wrong = traceback.format_exc(limit=-4)
        print(json.dumps({"case": path.parent.name, "wrong": wrong}), flush=True)


main()
