"""Two ranks in threads along I, on a periodic domain, have the bits of one rank."""

import threading

import numpy as np

import diffuse

HALO = 2


def periodic(field, axis):
    """Fills the halo along an axis from the opposite edge."""
    moved = np.moveaxis(field, axis, 0)
    moved[:HALO], moved[-HALO:] = moved[-2 * HALO : -HALO].copy(), moved[HALO : 2 * HALO].copy()


def one_rank(event):
    field = np.asarray(event.fields["q"][0])
    periodic(field, 0)
    periodic(field, 1)


def ranks(fields):
    barrier = threading.Barrier(2)
    sent = [None, None]

    def rank(own):
        def answer(event):
            field = np.asarray(event.fields["q"][0])
            assert (event.event, event.kind, event.width) == ("update", "scalar", HALO)
            sent[own] = field[HALO : 2 * HALO].copy(), field[-2 * HALO : -HALO].copy()
            barrier.wait()
            left, right = sent[1 - own]
            barrier.wait()
            field[:HALO], field[-HALO:] = right, left
            periodic(field, 1)

        diffuse.diffuse(fields[own], n=5, answer=answer, origin=(HALO, HALO, 0), domain=(6, 7, 3), threads=1)

    threads = [threading.Thread(target=rank, args=(it,)) for it in range(2)]
    for it in threads:
        it.start()
    for it in threads:
        it.join()


def broken(event):
    raise ZeroDivisionError("of the answer")


whole = np.random.default_rng(1).random((12 + 2 * HALO, 7 + 2 * HALO, 3))
halves = [whole[6 * it : 6 * it + 6 + 2 * HALO].copy() for it in range(2)]
diffuse.diffuse(whole, n=5, answer=one_rank, origin=(HALO, HALO, 0), domain=(12, 7, 3))
ranks(halves)
for number, half in enumerate(halves):
    own = slice(HALO, -HALO)
    np.testing.assert_array_equal(half[own, own], whole[6 * number + HALO : 6 * number + 6 + HALO, own])
try:
    diffuse.diffuse(whole, n=1, answer=broken, origin=(HALO, HALO, 0), domain=(12, 7, 3))
except ZeroDivisionError:
    print("equal")
