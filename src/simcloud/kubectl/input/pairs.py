"""Words of the form KEY=VALUE and KEY- behind the objects that a command line names."""

from __future__ import annotations

from simcloud.kubectl.errors import KubectlError


def is_pair(word: str) -> bool:
    """Whether a word sets or removes something; a single dash is standard input."""
    return ("=" in word and word[0] != "=") or (word.endswith("-") and word != "-")


def split_pairs(args: list[str], what: str) -> tuple[list[str], list[str]]:
    """The words that name objects, and those after them that change something."""
    first = next((place for place, word in enumerate(args) if is_pair(word)), len(args))
    for word in args[first:]:
        if not is_pair(word):
            raise KubectlError(f"all resources must be specified before {what} changes: {word}")
    return args[:first], args[first:]


def read_pairs(words: list[str], what: str, *, removing: bool = True) -> tuple[dict[str, str], list[str]]:
    """What is set to which value, and what is removed."""
    values: dict[str, str] = {}
    removed: list[str] = []
    wrong: list[str] = []
    for word in words:
        if "=" in word and word[0] != "=":
            key, _, values[key] = word.partition("=")
        elif removing and word.endswith("-") and word != "-":
            removed.append(word[:-1])
        else:
            wrong.append(word)
    if wrong:
        raise KubectlError(f"invalid {what} format: {', '.join(wrong)}")
    return values, removed
