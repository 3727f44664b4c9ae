"""The signatures of the functions."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

ArgumentType = Literal["scalar", "vector", "matrix", "string"]


class Signature(NamedTuple):
    """A function's name, arguments and result.

    ``variadic`` more arguments of the last type may follow or be missing: 1 means the last one is optional, -1
    means any number of it.
    """

    name: str
    arguments: tuple[ArgumentType, ...]
    returns: ArgumentType
    variadic: int = 0


_LETTERS: Final[dict[str, ArgumentType]] = {"v": "vector", "m": "matrix", "s": "scalar", "t": "string"}

# name, types of the arguments, type of the result, variadic
_TABLE: Final = """
abs v v | absent v v | absent_over_time m v | avg_over_time m v | ceil v v | changes m v | clamp vss v
clamp_max vs v | clamp_min vs v | count_over_time m v | day_of_week v v 1 | delta m v | deriv m v | exp v v
floor v v | histogram_quantile sv v | hour v v 1 | idelta m v | increase m v | irate m v | label_join vttt v -1
label_replace vtttt v | last_over_time m v | ln v v | log10 v v | log2 v v | max_over_time m v | min_over_time m v
minute v v 1 | predict_linear ms v | present_over_time m v | quantile_over_time sm v | rate m v | resets m v
round vs v 1 | scalar v s | sort v v | sort_desc v v | sqrt v v | stddev_over_time m v | stdvar_over_time m v
sum_over_time m v | time - s | timestamp v v | vector s v
"""


def _read() -> dict[str, Signature]:
    found = {}
    for row in _TABLE.replace("\n", "|").split("|"):
        if not row.strip():
            continue
        name, arguments, returns, *variadic = row.split()
        types = tuple(_LETTERS[letter] for letter in arguments if letter != "-")
        found[name] = Signature(name, types, _LETTERS[returns], int(variadic[0]) if variadic else 0)
    return found


FUNCTIONS: Final = _read()
