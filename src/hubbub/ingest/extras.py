"""Packages that only some logs need: imported where they are used; without them, the line to type."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hubbub.errors import InputError


def imported(module: str, extra: str, what: str) -> Any:
    """A module of an extra of this package."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"{what} is not installed.", next=f"pip install 'hubbub[{extra}]'") from None
