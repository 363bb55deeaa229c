"""Bits that follow a script, so that a sampler's decision can be checked for one chosen uniform real."""

from __future__ import annotations


class Scripted:
    """Hands out exactly the given bytes and fails if asked for more."""

    def __init__(self, script: bytes) -> None:
        self.left = script

    def take(self, size: int) -> bytes:
        if size > len(self.left):
            raise EOFError(f"script ended: {size} bytes wanted, {len(self.left)} left")
        taken, self.left = self.left[:size], self.left[size:]
        return taken


def uniform_script(numerator: int, precision: int) -> bytes:
    """What a table reads when its uniform real is numerator / 2^precision: 16 bits, 48 more, then 128 at a time."""
    bits = numerator << (-(precision - 192) % 128) if precision > 192 else numerator << (192 - precision)
    width = max(192, precision + (-(precision - 192) % 128))
    prefix = bits >> (width - 16)
    word = (bits >> (width - 64) & ((1 << 48) - 1)) << 16
    rest = bits & ((1 << (width - 64)) - 1)
    return prefix.to_bytes(2, "little") + word.to_bytes(8, "little") + rest.to_bytes((width - 64) // 8, "big")
