"""The generator behind ``rand()``: additive feedback and a shuffle, the same as in gawk.

The same seed gives the same numbers as there, on any machine. The seed at the start is fixed, so a program
that does not call ``srand()`` draws the same numbers each time it is run.
"""

from __future__ import annotations

from typing import Final

_DEGREE: Final = 63
_TABLE_SIZE: Final = 512
_WARM_UP: Final = 10 * _DEGREE
_MODULUS: Final = 2_147_483_647
_SPAN: Final = 2_147_483_648.0


class Randoms:
    """A sequence of pseudo-random numbers, initialized when the first one is drawn."""

    def __init__(self) -> None:
        self.seed = 1.0
        self._state: list[int] = []
        self._position = 0
        self._table: list[int] = []
        self._last = 0

    def reseed(self, seed: float) -> None:
        """Begin the sequence of another seed."""
        self.seed = seed
        self._state = []

    def draw(self) -> float:
        """A number from 0 up to but not including 1."""
        if not self._state:
            self._begin(int(self.seed) & 0xFFFFFFFF)
        low, high = self._next_shuffled(), self._next_shuffled()
        # Adding and taking away a half drops the bits beyond what a double holds near 1.
        number = 0.5 + (low / _SPAN + high) / _SPAN - 0.5
        return number if number < 1.0 else self.draw()

    def _begin(self, seed: int) -> None:
        word = seed if seed < 1 << 31 else seed - (1 << 32)
        self._state = [seed]
        for _ in range(1, _DEGREE):
            word = _park_miller(word)
            self._state.append(word)
        self._position = 0
        self._table = [self._feedback() for _ in range(_TABLE_SIZE)]
        self._last = self._feedback()
        for _ in range(_WARM_UP):
            self._next_shuffled()

    def _feedback(self) -> int:
        state, rear = self._state, self._position
        front = self._position = (rear + 1) % _DEGREE
        state[front] = word = (state[front] + state[rear]) & 0xFFFFFFFF
        return word >> 1

    def _next_shuffled(self) -> int:
        fresh = self._feedback()
        place = self._last % _TABLE_SIZE
        self._last, self._table[place] = self._table[place], fresh
        return self._last


def _park_miller(word: int) -> int:
    """The minimal standard generator, in 32-bit steps: only so do negative seeds come out right."""
    word = word or 123_459_876
    quotient, remainder = divmod(abs(word), 127_773)
    step = 16_807 * remainder - 2_836 * quotient
    if word < 0:
        step = -step
    return step + _MODULUS if step < 0 else step
