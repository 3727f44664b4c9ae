"""``+ - * / %``, comparisons and the other operators of jq."""

from __future__ import annotations

from simcloud.userland.jq.functions.registry import native, refuse, refuse_both
from simcloud.userland.jq.output import MAX_DEPTH
from simcloud.userland.jq.run import Run, too_much
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.values import compare, truth

LOWEST = -(2**63)
PART_BYTES = 32


@native("_plus", 2)
def plus(run: Run, _: Value, a: Value, b: Value) -> Value:
    """Numbers add, texts and arrays join, objects merge; null adds nothing."""
    kind = type(a)
    if kind is type(b):
        if kind is float:
            return a + b
        if kind is str:
            run.spend_bytes(len(a) + len(b))
            return a + b
        if kind is list or kind is dict:
            run.spend_copy(len(a) + len(b))
            return a + b if kind is list else {**a, **b}
    if a is None:
        return b
    if b is None:
        return a
    refuse_both(a, b, "cannot be added")


@native("_minus", 2)
def minus(run: Run, _: Value, a: Value, b: Value) -> Value:
    """Numbers subtract; an array loses all that is in the other."""
    if type(a) is float and type(b) is float:
        return a - b
    if type(a) is list and type(b) is list:
        return [item for item in a if not _contains(run, b, item)]
    refuse_both(a, b, "cannot be subtracted")


def _contains(run: Run, values: list[Value], wanted: Value) -> bool:
    run.spend(1)
    for value in values:
        if compare(value, wanted, run.spend) == 0:
            return True
        run.spend(1)
    return False


@native("_multiply", 2)
def multiply(run: Run, _: Value, a: Value, b: Value) -> Value:
    """Numbers multiply, a text repeats, objects merge all the way down."""
    if type(a) is float and type(b) is float:
        return a * b
    if type(a) is dict and type(b) is dict:
        return _merge(run, a, b, 0)
    if type(a) is float and type(b) is str:
        a, b = b, a
    if type(a) is str and type(b) is float:
        if not b > 0:
            return None
        times = max(1, int(min(b, 1e18)))
        run.spend_bytes(len(a) * times)
        return a * times
    refuse_both(a, b, "cannot be multiplied")


def _merge(run: Run, a: dict[str, Value], b: dict[str, Value], depth: int) -> dict[str, Value]:
    if depth > MAX_DEPTH:
        raise too_much(f"objects nested more than {MAX_DEPTH} deep cannot be merged")
    run.spend_copy(len(a))
    merged = dict(a)
    for key, value in b.items():
        run.spend(1)
        ours = merged.get(key)
        if type(ours) is dict and type(value) is dict:
            value = _merge(run, ours, value, depth + 1)
        merged[key] = value
    return merged


@native("_divide", 2)
def divide(run: Run, _: Value, a: Value, b: Value) -> Value:
    """Numbers divide; a text is split at another."""
    if type(a) is float and type(b) is float:
        if b == 0:
            refuse_both(a, b, "cannot be divided because the divisor is zero")
        return a / b
    if type(a) is str and type(b) is str:
        return split_text(run, a, b)
    refuse_both(a, b, "cannot be divided")


def split_text(run: Run, text: str, separator: str) -> list[Value]:
    """The parts of a text between separators; of an empty text, none."""
    if not text:
        return []
    parts = text.count(separator) + 1 if separator else len(text)
    run.spend_bytes(len(text) + PART_BYTES * parts)
    return list(text.split(separator) if separator else text)


@native("_mod", 2)
def remainder(_: Run, __: Value, a: Value, b: Value) -> Value:
    """The remainder of whole numbers, with the sign of the first."""
    if type(a) is not float or type(b) is not float:
        refuse_both(a, b, "cannot be divided (remainder)")
    dividend, divisor = _whole(a), _whole(b)
    if divisor == 0:
        refuse_both(a, b, "cannot be divided (remainder) because the divisor is zero")
    left = abs(dividend) % abs(divisor)
    return float(-left if dividend < 0 else left)


def _whole(number: float) -> int:
    """A number as a C integer of 64 bits; what does not fit is the lowest one."""
    if number != number or not -(2.0**63) <= number < 2.0**63:
        return LOWEST
    return int(number)


@native("_negate", 0)
def negate(_: Run, value: Value) -> Value:
    """The number with the other sign."""
    if type(value) is not float:
        refuse(value, "cannot be negated")
    return -value


@native("_equal", 2)
def equal(run: Run, _: Value, a: Value, b: Value) -> Value:
    """``==``"""
    return compare(a, b, run.spend) == 0


@native("_notequal", 2)
def not_equal(run: Run, _: Value, a: Value, b: Value) -> Value:
    """``!=``"""
    return compare(a, b, run.spend) != 0


@native("_less", 2)
def less(run: Run, _: Value, a: Value, b: Value) -> Value:
    """``<``"""
    return compare(a, b, run.spend) < 0


@native("_greater", 2)
def greater(run: Run, _: Value, a: Value, b: Value) -> Value:
    """``>``"""
    return compare(a, b, run.spend) > 0


@native("_lesseq", 2)
def less_or_equal(run: Run, _: Value, a: Value, b: Value) -> Value:
    """``<=``"""
    return compare(a, b, run.spend) <= 0


@native("_greatereq", 2)
def greater_or_equal(run: Run, _: Value, a: Value, b: Value) -> Value:
    """``>=``"""
    return compare(a, b, run.spend) >= 0


@native("not", 0)
def negation(_: Run, value: Value) -> Value:
    """``true`` for null and false."""
    return not truth(value)
