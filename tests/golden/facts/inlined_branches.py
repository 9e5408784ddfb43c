"""`__INLINED` decides while compiling; what is dropped needs neither data nor halo."""

from ndsl.dsl.gt4py import PARALLEL, compile_assert, computation, function, interval
from ndsl.dsl.typing import Float, FloatField


@function
def shifted(q):
    from __externals__ import order

    compile_assert(0 < order < 3)
    value = q
    if __INLINED(order > 1):
        value = q[-3, 0, 0]
    else:
        value = q[0, 1, 0]
    return value


def inlined_branches(a: FloatField, unused: FloatField, out: FloatField, scale: Float):
    from __externals__ import do_shift, factor, order

    with computation(PARALLEL), interval(...):
        out = a * factor
        if __INLINED(do_shift and order == 1):
            out = out + shifted(a)
        elif __INLINED(not do_shift):
            out = unused[5, 5, 0]
        # Without `__INLINED` the same test is made at run time.
        if do_shift:
            out = out * scale
