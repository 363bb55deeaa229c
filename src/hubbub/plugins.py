"""Mechanisms, readers, tasks and exporters by name: hubbub's own, and those of other installed packages.

A module in the home folder of a registry registers what it holds; another package announces its own as an entry point
of the registry's group (docs/plugins.md). Both are looked for when a name is first asked for, so that importing hubbub,
and `hubbub --help`, stay quick.
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Generic, Protocol, TypeVar

from hubbub.errors import ParameterError


class Named(Protocol):
    """What a registry holds: a class or an object that has a name."""

    @property
    def name(self) -> str:
        """What a user calls it."""


T = TypeVar("T", bound=Named)


@dataclass(frozen=True)
class Apart(Generic[T]):
    """Those of a registry that people should see apart from the others."""

    heading: str
    holds: Callable[[T], bool]


class PluginWarning(UserWarning):
    """Something that an installed package announces cannot be used."""


class Registry(Mapping[str, T]):
    """Everything of one kind by its name. Loaded when first asked; a name is never given twice."""

    def __init__(
        self, what: str, group: str, home: str, contract: type, unknown: str = "", apart: Apart[T] | None = None
    ) -> None:
        self.what, self.group, self.home, self.contract = what, group, home, contract
        self.apart = apart
        self.unknown = unknown or f"There is no such {what}."
        self._known: dict[str, T] = {}
        self._unusable: dict[str, str] = {}
        self._loaded, self._lock = False, RLock()

    def add(self, thing: T) -> None:
        """Make something known under its own name; a name that is taken is refused."""
        before = self._known.setdefault(thing.name, thing)
        if before is not thing:
            raise ParameterError(
                f"There is a {self.what} of this name already.", given=thing.name, next="give yours another name"
            )

    @contextmanager
    def added(self, *things: T) -> Iterator[None]:
        """For a test: these are known inside the block."""
        self._load()
        for thing in things:
            self.add(thing)
        try:
            yield
        finally:
            for thing in things:
                del self._known[thing.name]

    def named(self, name: str) -> T:
        """The one of this name, or an error that lists the names there are, or says why a package's cannot be used."""
        if name in self:
            return self[name]
        if name in self._unusable:
            raise ParameterError(self._unusable[name], given=name, next="mend the package, or uninstall it")
        raise ParameterError(self.unknown, given=name, allowed=self.listing(), next="choose one of these")

    def listing(self) -> str:
        """All names for people: what belongs apart comes after the others, under its heading."""
        aside = [] if self.apart is None else [name for name in self if self.apart.holds(self[name])]
        usual = ", ".join(name for name in self if name not in aside)
        return usual if self.apart is None or not aside else f"{usual}; {self.apart.heading}: {', '.join(aside)}"

    def __getitem__(self, name: str) -> T:
        self._load()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._known))

    def __len__(self) -> int:
        self._load()
        return len(self._known)

    def _load(self) -> None:
        with self._lock:
            if self._loaded:
                return
            for module in pkgutil.iter_modules(import_module(self.home).__path__, f"{self.home}."):
                import_module(module.name)
            self._loaded = True  # only now: what fails above fails again when asked again
            for point in entry_points(group=self.group):
                self._take(point)

    def _take(self, point: EntryPoint) -> None:
        """One announced thing. A package that fails is told about, and takes nothing else down with it."""
        package = point.value if point.dist is None else f"{point.dist.name} {point.dist.version}"
        try:
            thing = point.load()
            fits = issubclass(thing, self.contract) if isinstance(thing, type) else isinstance(thing, self.contract)
            if not fits:
                raise TypeError(f"{point.value} is no {self.contract.__name__}")
            if thing.name != point.name:
                raise ValueError(f"it calls itself {thing.name!r}")
            self.add(thing)
        except Exception as error:
            why = error.what if isinstance(error, ParameterError) else f"{type(error).__name__}: {error}"
            told = f"The {self.what} {point.name!r} of the package {package} cannot be used: {why}"
            self._unusable.setdefault(point.name, told)
            warnings.warn(told, PluginWarning, stacklevel=2)
