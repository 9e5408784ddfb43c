"""The native part: what the package itself calls. It changes without notice; use the package."""

from os import PathLike
from typing import Any, TypedDict, final

__all__ = [
    "BoundCall",
    "Cancelled",
    "Elsewhere",
    "Frozen",
    "Panicked",
    "Refused",
    "Stencil",
    "Trapped",
    "Unavailable",
    "__version__",
    "after_fork",
    "backends",
]

__version__: str

class Refused(Exception): ...
class Trapped(Exception): ...
class Cancelled(Exception): ...
class Elsewhere(Exception): ...
class Unavailable(Exception): ...
class Panicked(BaseException): ...

class _Wanted(TypedDict):
    backend: str
    threads: int
    mode: str
    cache: str | PathLike[str] | None
    temporary: str | PathLike[str]
    path: str
    cc: str | None
    n_positional: int

@final
class Stencil:
    def __new__(cls, request: str, wanted: _Wanted) -> Stencil: ...
    def signature(self) -> str: ...
    def remarks(self) -> str: ...
    def text(self, stage: str) -> str | None: ...
    def call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, domain: Any = None, origin: Any = None
    ) -> bool: ...
    def timed_call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, domain: Any = None, origin: Any = None
    ) -> tuple[float, tuple[int, int, int]]: ...
    def freeze(self, domain: Any = None, origin: Any = None) -> Frozen: ...
    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, domain: Any = None, origin: Any = None
    ) -> BoundCall: ...

@final
class Frozen:
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...

@final
class BoundCall:
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...
    def run(self) -> None: ...
    @property
    def domain(self) -> tuple[int, int, int]: ...

def backends(path: str, cc: str | None) -> list[tuple[str, bool, str]]: ...
def after_fork() -> None: ...
