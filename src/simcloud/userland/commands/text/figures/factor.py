"""``factor``: prime factors, by trial division and then Pollard's rho."""

from __future__ import annotations

from math import gcd

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, emit
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import tool

_SMALL = [n for n in range(2, 1000) if all(n % d for d in range(2, int(n**0.5) + 1))]
_WITNESSES = _SMALL[:13]
"""Enough to tell every prime below 3.3e24 for certain; beyond, by all evidence."""

_MAX_DIGITS = 200
_BATCH = 128


@tool("factor", options="", usage="[NUMBER]...")
async def factor(ctx: Context, options: Options) -> int:
    """Write the prime factors of each number."""
    status = 0
    words = options.operands
    if not words:
        data = await Inputs(ctx, [], cannot_read="error reading input: {why}").read_all()
        words = data.decode("utf-8", "surrogateescape").split()
    for word in words:
        digits = word.strip(" \t\n").removeprefix("+")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > _MAX_DIGITS:
            await ctx.err(f"{ctx.args[0]}: {quote(word)} is not a valid positive integer\n")
            status = 1
            continue
        number = int(digits)
        primes = sorted(_factors(ctx, number)) if number > 1 else []
        await emit(ctx, (" ".join([f"{number}:", *map(str, primes)]) + "\n").encode())
    return status


def _factors(ctx: Context, number: int) -> list[int]:
    found: list[int] = []
    for prime in _SMALL:
        while number % prime == 0:
            found.append(prime)
            number //= prime
    pending = [number] if number > 1 else []
    while pending:
        rest = pending.pop()
        if _is_prime(rest):
            found.append(rest)
        else:
            divisor = _divisor(ctx, rest)
            pending += [divisor, rest // divisor]
    return found


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test."""
    if number < 2 or any(number % prime == 0 for prime in _WITNESSES):
        return number in _WITNESSES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for witness in _WITNESSES:
        power = pow(witness, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def _divisor(ctx: Context, number: int) -> int:
    """A divisor of a composite number, by Brent's variant of the rho method."""
    for offset in range(1, number):
        slow = fast = start = 2
        steps, product, divisor = 1, 1, 1
        while divisor == 1:
            slow = fast
            for _ in range(steps):
                fast = (fast * fast + offset) % number
            done = 0
            while done < steps and divisor == 1:
                ctx.spend_turn(1 + number.bit_length() // 16)
                start = fast
                for _ in range(min(_BATCH, steps - done)):
                    fast = (fast * fast + offset) % number
                    product = product * abs(slow - fast) % number
                divisor = gcd(product, number)
                done += _BATCH
            steps *= 2
        if divisor == number:
            divisor = 1
            while divisor == 1:
                start = (start * start + offset) % number
                divisor = gcd(abs(slow - start), number)
        if divisor != number:
            return divisor
    return number
