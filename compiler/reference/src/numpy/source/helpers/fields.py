class Along:
    """Positions along one axis; `i + 1` are their neighbours."""

    def __init__(self, start, stop):
        self.start, self.stop = start, max(start, stop)

    def __add__(self, by):
        return Along(self.start + by, self.stop + by)

    def __sub__(self, by):
        return self + -by

    def within(self, start, stop):
        """Those of them between two bounds."""
        start, stop = max(self.start, start), min(self.stop, stop)
        return Along(start, stop)

    def upward(self):
        """One after the other."""
        return (Along(at, at + 1) for at in range(self.start, self.stop))

    def downward(self):
        return (Along(at, at + 1) for at in reversed(range(self.start, self.stop)))

    def positions(self, axis):
        shape = [1, 1, 1]
        shape[axis] = self.stop - self.start
        return np.arange(self.start, self.stop, dtype=np.int64).reshape(shape)


class Field:
    """An array whose indices count from the first point of the compute domain.

    What is read has the dimensions i, j and k; one that the field lacks is 1.
    """

    def __init__(self, array, axes, origin):
        self.array, self.axes, self.origin = array, axes, origin

    @staticmethod
    def given(array, axes, origin, name):
        """A field of the caller's; its origin has an index for each axis, or for each of I, J and K."""
        first = origin.get(name, origin.get("_all_", (0, 0, 0)))
        if len(first) == 3:
            first = [first["IJK".index(axis)] for axis in axes]
        return Field(array, axes, tuple(first[: len(axes)]))

    @staticmethod
    def full(ranges, value, dtype, sizes=(), axes="IJK"):
        """A new field, with the same value everywhere."""
        shape = tuple(it.stop - it.start for it in ranges)
        return Field(np.full(shape + sizes, value, dtype), axes, tuple(-it.start for it in ranges))

    def copy(self):
        return Field(self.array.copy(), self.axes, self.origin)

    def _index(self, at):
        n = len(self.axes)
        first = [slice(it.start + o, it.stop + o) for it, o in zip(at[:n], self.origin)]
        return tuple(first) + tuple(at[n:])

    def __getitem__(self, at):
        at = at if isinstance(at, tuple) else (at,)
        lacking = tuple(axis for axis, name in enumerate("IJK") if name not in self.axes)
        return np.expand_dims(self.array[self._index(at)], lacking)

    def __setitem__(self, at, value):
        at = at if isinstance(at, tuple) else (at,)
        index = self._index(at)
        shape = [it.stop - it.start for it in at[: len(self.axes)]]
        shape += [1] * (3 - len(shape))
        value = np.broadcast_to(value, shape)
        self.array[index] = value[..., 0] if self.axes == "IJ" else value

    def _elements(self, at, where):
        """The index of single elements; those that nobody asks for may be any."""
        index, exist = [], True
        for axis, item in enumerate(at):
            if axis < len(self.axes):
                if isinstance(item, Along):
                    item = item.positions("IJK".index(self.axes[axis]))
                item = item + self.origin[axis]
            inside = (0 <= item) & (item < self.array.shape[axis])
            index.append(np.where(inside, item, 0))
            exist = exist & inside
        if np.any(where & ~np.asarray(exist)):
            raise IndexError("an element does not exist")
        return np.broadcast_arrays(*index)

    def take(self, *at, where=np.True_):
        """Elements that are found at run time. All of those for which `where` holds must exist."""
        found = self.array[tuple(self._elements(at, where))]
        return found.reshape((1,) * (3 - found.ndim) + found.shape)

    def put(self, value, *at, where=np.True_):
        """Writes elements that are found at run time, where `where` holds."""
        *index, value, where = np.broadcast_arrays(*self._elements(at, where), value, where)
        self.array[tuple(it[where] for it in index)] = value[where]
