"""Regular expressions in queries: Perl's flavour, searched within bounds whatever the pattern."""

from __future__ import annotations

from collections.abc import Callable

from simcloud.datastores.mongodb.bson import Regex
from simcloud.datastores.mongodb.engine.fuel import burn
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.patterns import RegexError, TooMuchWorkError, compile_regex


def searcher(regex: Regex) -> Callable[[str], bool]:
    """A function that says whether the expression is found in a string."""
    for letter in regex.options:
        if letter not in "imsx":
            raise bad_value(f" invalid flag in regex options: {letter}")
    inline = "".join(letter for letter in "sx" if letter in regex.options)
    pattern = (f"(?{inline})" if inline else "") + regex.pattern
    try:
        compiled = compile_regex(
            pattern.encode("utf-8", "surrogatepass"),
            "perl",
            ignore_case="i" in regex.options,
            multiline="m" in regex.options,
        )
    except RegexError as error:
        raise MongoFailure(51091, f"Regular expression is invalid: {error}") from None

    def search(text: str) -> bool:
        before = compiled.steps
        try:
            found = compiled.search(text.encode("utf-8", "surrogatepass")) is not None
        except TooMuchWorkError:
            raise MongoFailure(51156, "Error occurred while executing the regular expression") from None
        burn(1 + len(text) // 256 + (compiled.steps - before) // 16)
        return found

    return search
