"""Halo updates of NDSL's communicators beside exchanges of `isobar run`, on fields of random numbers.

NDSL is on PYTHONPATH, and ISOBAR_BIN is the program. It prints a line for each case, and ends with the number of those that
differ in a bit. On one tile, NDSL has updates of three and more ranks along an axis.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import numpy.lib._index_tricks_impl as index_tricks

# NDSL 2025.05 was written for NumPy 1.
sys.modules["numpy.lib.index_tricks"] = index_tricks

import isobar.ranks  # noqa: E402
import ndsl  # noqa: E402
from ndsl.constants import X_DIM, X_INTERFACE_DIM, Y_DIM, Y_INTERFACE_DIM, Z_DIM  # noqa: E402

HALO, LEVELS, TILES = 3, 2, 6
POINT = (X_DIM, Y_DIM, Z_DIM)
# The components of winds: of a C grid, and the other way of a D grid.
WEST = (X_INTERFACE_DIM, Y_DIM, Z_DIM)
SOUTH = (X_DIM, Y_INTERFACE_DIM, Z_DIM)
CORNER = (X_INTERFACE_DIM, Y_INTERFACE_DIM, Z_DIM)


def staggered(dims):
    return "".join(axis for axis, dim in zip("IJ", dims) if "interface" in dim)


class Case:
    """An exchange of fields on `n` points that `p` ranks cut along each axis."""

    def __init__(self, n, p, dims, kind, width, is_cube):
        self.n, self.p, self.kind, self.width, self.is_cube = n, p, kind, width, is_cube
        self.dims = {f"f{at}": it for at, it in enumerate(dims)}
        random, more = np.random.default_rng(n + p), (TILES,) if is_cube else ()
        self.fields = {
            name: random.random((*(n + 2 * HALO + int(axis in staggered(it)) for axis in "IJ"), LEVELS, *more))
            for name, it in self.dims.items()
        }

    def __str__(self):
        which = " ".join(staggered(it) or "-" for it in self.dims.values())
        where = "cube" if self.is_cube else "tile"
        return f"{where} of {self.n} points on {self.p}x{self.p} ranks, {self.kind} {self.width} of {which}"

    def document(self):
        def field(dims):
            size = [f"{axis}+{2 * HALO + int(axis in staggered(dims))}" for axis in "IJ"]
            it = {"role": "argument", "dtype": "float64", "axes": "IJK", "shape": [*size, "K"]}
            return {**it, "staggered": staggered(dims)} if staggered(dims) else it

        exchange = {"exchange": list(self.dims), "kind": self.kind, "width": self.width}
        fields = {name: field(it) for name, it in self.dims.items()}
        return {"isobar_program": 1, "name": "updates", "grid": {"halo": HALO}, "fields": fields, "body": [exchange]}

    def ours(self):
        """The whole fields behind an exchange of Isobar."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "updates.json").write_text(json.dumps(self.document()))
            np.savez(folder / "in.npz", **self.fields)
            command = [
                os.environ["ISOBAR_BIN"], "run", "--program", "updates.json", "--domain", f"{self.n},{self.n},{LEVELS}",
                "--halo", "cube" if self.is_cube else "periodic", "--layout", f"{self.p},{self.p}", "--fields", "in.npz",
                "--out", "out.npz",
            ]  # fmt: skip
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{self}: {done.stdout}{done.stderr}")
            with np.load(folder / "out.npz") as found:
                return {it: found[it] for it in self.dims}

    def part(self, rank, whole, has_halo):
        """The part of a rank in a whole field: with all of its halo, or with that at the edges of its tile."""
        tile, place = divmod(rank, self.p**2)
        whole, (y, x), m = whole[..., tile] if self.is_cube else whole, divmod(place, self.p), self.n // self.p

        def along(at, size):
            first, end = at * m, at * m + size - (self.p - 1) * m
            is_first, is_last = has_halo or at == 0, has_halo or at == self.p - 1
            return slice(first if is_first else first + HALO, end if is_last else first + HALO + m)

        slices = along(x, whole.shape[0]), along(y, whole.shape[1])
        first = [slice(it.start - at * m, it.stop - at * m) for it, at in zip(slices, (x, y))]
        return whole[slices], tuple(first)

    def theirs(self, comm):
        """The fields of a rank behind an update of NDSL."""
        tiles = ndsl.TilePartitioner((self.p, self.p))
        cube = ndsl.CubedSpherePartitioner(tiles)
        communicator = ndsl.CubedSphereCommunicator(comm, cube) if self.is_cube else ndsl.TileCommunicator(comm, tiles)
        made = []
        for name, dims in self.dims.items():
            own, _ = self.part(comm.Get_rank(), self.fields[name], True)
            extent = [size - 2 * HALO for size in own.shape[:2]] + [LEVELS]
            made.append(ndsl.Quantity(own.copy(), dims, "m", origin=(HALO, HALO, 0), extent=extent, gt4py_backend="numpy"))
        specs = [it.halo_spec(self.width) for it in made]
        if self.kind == "scalar":
            communicator.get_scalar_halo_updater(specs).update(made)
        elif self.kind == "vector":
            communicator.get_vector_halo_updater(specs[:1], specs[1:]).update(made[:1], made[1:])
        else:
            communicator.synchronize_vector_interfaces(*made)
        return [np.asarray(it.data) for it in made]

    def differences(self):
        """How many elements differ."""
        ours = self.ours()
        theirs = isobar.ranks.run((TILES if self.is_cube else 1) * self.p**2, self.theirs)
        n = 0
        for rank, fields in enumerate(theirs):
            for name, own in zip(self.dims, fields):
                whole, box = self.part(rank, ours[name], False)
                n += int((whole != own[box]).sum())
        return n


def cases():
    for n, p in ((6, 1), (6, 2), (12, 3)):
        for width in (1, 3):
            for dims in ([POINT], [CORNER]):
                yield Case(n, p, dims, "scalar", width, True)
            for dims in ([POINT, POINT], [SOUTH, WEST], [WEST, SOUTH]):
                yield Case(n, p, dims, "vector", width, True)
            if p > 2:
                yield Case(n, p, [POINT, CORNER, WEST], "scalar", width, False)
        yield Case(n, p, [SOUTH, WEST], "interface", 1, True)


def main():
    n_wrong = 0
    for case in cases():
        n = case.differences()
        n_wrong += n > 0
        print(f"{case}: {f'{n} elements differ' if n else 'same'}", flush=True)
    sys.exit(n_wrong)


if __name__ == "__main__":
    main()
