"""What a function takes along into the workers: never a generator."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np

from hubbub.engines.base import Batches
from hubbub.errors import OurBug
from hubbub.noise import SecureNoise, SeededBits, SeededNoise, SystemBits

NUMPY = (np.random.Generator, np.random.BitGenerator, np.random.RandomState)
GENERATORS = (SecureNoise, SeededNoise, SystemBits, SeededBits, random.Random, *NUMPY)


def require_no_generator(function: Batches) -> None:
    """Refuse a function that carries a generator: every worker would unpickle the same one, and draw the same noise."""
    from pyspark import cloudpickle

    pickler: Any = cloudpickle.CloudPickler

    class Watchful(pickler):  # type: ignore[misc]
        def reducer_override(self, thing: object) -> Any:
            if isinstance(thing, GENERATORS):
                raise OurBug(f"a {type(thing).__name__} would be copied into every worker: make it in the function")
            return super().reducer_override(thing)

    Watchful(io.BytesIO()).dump(function)
