class Field:
    """An array, or lists of lists, whose indices count from the first point of the compute domain."""

    def __init__(self, array, axes, origin, name, kind):
        first = origin.get(name, origin.get("_all_", (0, 0, 0)))
        if len(first) == 3:
            first = [first["IJK".index(axis)] for axis in axes]
        self.array, self.name, self.kind = array, name, kind
        self.origin = tuple(first[: len(axes)])

    def _row(self, at):
        """What holds the element, and its index there."""
        at = at if isinstance(at, tuple) else (at,)
        index = [it + o for it, o in zip(at, self.origin)] + list(at[len(self.origin) :])
        row = self.array
        for it in index[:-1]:
            row = row[self._checked(it, row, at)]
        return row, self._checked(index[-1], row, at)

    def _checked(self, index, row, at):
        if not 0 <= index < len(row):
            raise IndexError(f"`{self.name}` has no element {at}")
        return index

    def __getitem__(self, at):
        row, index = self._row(at)
        return self.kind(row[index])

    def __setitem__(self, at, value):
        row, index = self._row(at)
        row[index] = value

    def copy(self):
        """The same field as it is now."""
        copy = Field.__new__(Field)
        copy.__dict__.update(self.__dict__)
        copy.array = copied(self.array)
        return copy


def copied(array):
    return [copied(it) for it in array] if hasattr(array, "__len__") else array


class Temporary:
    """A field of the stencil's own, which exists on these ranges; what nobody wrote is undefined."""

    def __init__(self, ranges, undefined):
        self.ranges, self.undefined, self.elements = ranges, undefined, {}

    def _checked(self, at):
        at = at if isinstance(at, tuple) else (at,)
        if not all(it in range for it, range in zip(at, self.ranges)):
            raise IndexError(f"a temporary has no element {at}")
        return at

    def __getitem__(self, at):
        return self.elements.get(self._checked(at), self.undefined)

    def __setitem__(self, at, value):
        self.elements[self._checked(at)] = value

    def copy(self):
        """The same field as it is now."""
        copy = Temporary(self.ranges, self.undefined)
        copy.elements = dict(self.elements)
        return copy
