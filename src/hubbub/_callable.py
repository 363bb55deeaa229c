"""Let `hubbub.release(...)` and `import hubbub.release` both work: the verb is the module's own name."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that has the module's name."""
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


def make_callable(name: str) -> None:
    """Make the module of this name callable."""
    sys.modules[name].__class__ = _Callable
