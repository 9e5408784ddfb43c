"""PyFV3's dynamical core on six tiles of a cubed sphere: a baroclinic wave from an analytic state, no data needed.

The six ranks are threads of one process; below `mpiexec -n 6` they are processes. NDSL and PyFV3 are on PYTHONPATH. The
last line that rank 0 prints is JSON: how long building and each step took, in seconds, and the hash of the state behind
each step.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib
import json
import os
import pathlib
import sys
import threading
import time
from datetime import timedelta

import numpy as np
import numpy.lib._index_tricks_impl as index_tricks
import yaml

# NDSL 2025.05 was written for NumPy 1.
sys.modules["numpy.lib.index_tricks"] = index_tricks

import isobar.ranks  # noqa: E402
import ndsl  # noqa: E402
import ndsl.dsl.stencil  # noqa: E402
import ndsl.grid.eta  # noqa: E402
from ndsl.grid import DampingCoefficients, GridData, MetricTerms  # noqa: E402
from pyFV3 import DynamicalCore, DynamicalCoreConfig  # noqa: E402
from pyFV3.initialization.test_cases.initialize_baroclinic import init_baroclinic_state  # noqa: E402

STATE = ("u", "v", "w", "delz", "pt", "delp", "qvapor", "ps")
TILES = 6


def use_analytic_levels(nz):
    """Pressure levels above, which follow the ground below: NDSL would read them from a file."""

    def levels(_):
        p = np.linspace(0, 1, nz + 1)
        p = 300 + (1e5 - 300) * (0.25 * p + 0.75 * p**2)
        bk = np.clip((p - p[nz // 8]) / (1e5 - p[nz // 8]), 0, None) ** 1.3
        return p - bk * 1e5, bk

    ndsl.grid.eta._load_ak_bk_from_file = levels


def count_stencils():
    """The identities of all stencils that are made from now on. One is built at a time: GT4Py edits definitions."""
    made, lock, init = [], threading.RLock(), ndsl.FrozenStencil.__init__

    def make(self, *args, **kwargs):
        with lock:
            init(self, *args, **kwargs)
        made.append(self.stencil_object._gt_id_)

    ndsl.FrozenStencil.__init__ = make
    return made


def run(me, given, made):
    begun = time.perf_counter()
    n, nz, backend = given.points, given.levels, given.backend
    says = me.Get_rank() == 0
    dycore = yaml.safe_load(pathlib.Path(given.config).read_text())["dycore_config"]
    known = {it.name for it in dataclasses.fields(DynamicalCoreConfig)}
    config = DynamicalCoreConfig(
        layout=(1, 1), npx=n + 1, npy=n + 1, npz=nz, ntiles=TILES, dt_atmos=2700 / n,
        **{name: it for name, it in dycore.items() if name in known},
    )  # fmt: skip
    tiles = ndsl.CubedSpherePartitioner(ndsl.TilePartitioner((1, 1)))
    comm = ndsl.CubedSphereCommunicator(me, tiles)
    sizer = ndsl.SubtileGridSizer.from_tile_params(
        nx_tile=n, ny_tile=n, nz=nz, n_halo=3, extra_dim_lengths={}, layout=(1, 1), tile_partitioner=tiles.tile,
        tile_rank=comm.tile.rank,
    )  # fmt: skip
    quantities = ndsl.QuantityFactory.from_backend(sizer=sizer, backend=backend)
    metric = MetricTerms(quantity_factory=quantities, communicator=comm, eta_file="")
    grid = GridData.new_from_metric_terms(metric)
    state = init_baroclinic_state(
        grid_data=grid, quantity_factory=quantities, adiabatic=config.adiabatic, hydrostatic=False,
        moist_phys=config.moist_phys, comm=comm,
    )  # fmt: skip
    options = ndsl.CompilationConfig(backend=backend, rebuild=False, validate_args=given.validate)
    indexing = ndsl.GridIndexing.from_sizer_and_communicator(sizer=sizer, comm=comm)
    factory = ndsl.StencilFactory(ndsl.StencilConfig(compilation_config=options), indexing)
    core = DynamicalCore(
        comm=comm, grid_data=grid, stencil_factory=factory, quantity_factory=quantities, config=config, phis=state.phis,
        state=state, damping_coefficients=DampingCoefficients.new_from_metric_terms(metric),
        timestep=timedelta(seconds=config.dt_atmos),
    )  # fmt: skip
    me.Barrier()
    told = {"built": time.perf_counter() - begun, "stencils": len({*made}), "objects": len(made), "steps": [], "hashes": []}
    step = core.step_dynamics
    if given.program:
        step = isobar.program(core, "step_dynamics", results=given.results)
    for _ in range(given.steps):
        begun = time.perf_counter()
        step(state)
        me.Barrier()
        told["steps"].append(time.perf_counter() - begun)
        fields = {name: np.ascontiguousarray(getattr(state, name).view[:]) for name in STATE}
        own = hashlib.sha256(b"".join(it.tobytes() for it in fields.values())).digest()
        told["hashes"].append(hashlib.sha256(b"".join(me.allgather(own))).hexdigest()[:16])
    if given.program:
        told["memory"] = step.memory
    if given.out:
        np.savez(f"{given.out}_{me.Get_rank()}.npz", **fields)
    if says:
        print(json.dumps(told), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True, help="PyFV3's examples/configs/c12_baroclinic.yaml")
    parser.add_argument("--backend", default="isobar")
    parser.add_argument("--points", type=int, default=12, help="along each edge of a tile")
    parser.add_argument("--levels", type=int, default=10)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--program", action="store_true", help="compile each rank's step as one program")
    parser.add_argument("--results", default="arguments", help="the arrays of a program that are read behind it: all, or arguments")
    parser.add_argument("--plugin", default="isobar.ndsl", help="a module to import first; none with an empty one")
    parser.add_argument("--validate", action="store_true", help="have GT4Py's checks at each call")
    parser.add_argument("--out", help="where the last state of each rank is written: OUT_RANK.npz")
    given = parser.parse_args()
    if given.plugin:
        importlib.import_module(given.plugin)
    use_analytic_levels(given.levels)
    made = count_stencils()
    if {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"} & {*os.environ}:
        run(ndsl.MPIComm(), given, made)
        return

    isobar.ranks.run(TILES, run, given, made)


main()
