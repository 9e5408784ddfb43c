"""How far two runs of `pyfv3.py` are apart: ONE OTHER, each what `--out` got. Prints JSON: by field, the largest
difference over all ranks as a part of the largest value."""

import json
import sys

import numpy as np

one, other = sys.argv[1:]
differences: dict[str, float] = {}
scales: dict[str, float] = {}
for rank in range(6):
    with np.load(f"{one}_{rank}.npz") as ours, np.load(f"{other}_{rank}.npz") as theirs:
        for name in ours:
            differences[name] = max(differences.get(name, 0.0), float(np.abs(ours[name] - theirs[name]).max()))
            scales[name] = max(scales.get(name, 0.0), float(np.abs(theirs[name]).max()))
print(json.dumps({name: differences[name] / (scales[name] or 1.0) for name in differences}))
