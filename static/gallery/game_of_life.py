# @title Conway's game of life
# @about A cell is born with three living neighbours, stays with two or three, and dies else (Gardner, 1970).
# @about It is a stencil like any other: each point looks at the eight around it.
# @about The plane is closed to a torus, so that gliders come back from the other side.
# @stencil game_of_life
# @domain 96 96 1
# @input cells random(low=0, high=0.75, seed=8)
# @plot cells_out
# @step cells = cells_out periodic

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def game_of_life(cells: FloatField, cells_out: FloatField):
    """Take one step.

    Args:
        cells: above a half where a cell lives, with one halo point (in)
        cells_out: 1 where a cell lives after the step, 0 elsewhere (out)
    """
    with computation(PARALLEL), interval(...):
        alive = 1.0 if cells > 0.5 else 0.0
        row = alive[-1, 0, 0] + alive + alive[1, 0, 0]
        neighbours = row[0, -1, 0] + row + row[0, 1, 0] - alive

        cells_out = 0.0
        if neighbours == 3.0 or (neighbours == 2.0 and alive == 1.0):
            cells_out = 1.0
