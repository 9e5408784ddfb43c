kept = {}


def answer(event):
    """Fills halos from the opposite edge, and answers the callback `limit.halve`."""
    if event.event == "callback":
        assert event.name == "limit.halve" and event.gives == ["c", "go"]
        q, other = (np.asarray(event.fields[name][0]) for name in ("q", "other"))
        assert not q.flags.writeable
        other *= 0.5
        return {"c": 0.5 + q[0, 0, 0] * 2.0**-10, "go": bool(q[0, 0, 0] < 0.0)}
    (arrays,) = event.fields.values()
    field = np.asarray(arrays[0])
    if event.event != "wait":
        kept[event.number] = field.copy()
    if event.event != "start":
        (i0, j0, _), (n_i, n_j, _), w = arrays[0].origin, event.domain, event.width
        for i in range(i0 - w, i0 + n_i + w):
            for j in range(j0 - w, j0 + n_j + w):
                if not (i0 <= i < i0 + n_i and j0 <= j < j0 + n_j):
                    field[i, j] = kept[event.number][(i - i0) % n_i + i0, (j - j0) % n_j + j0]
    return None


def broken(event):
    raise ZeroDivisionError("of the answer")


