"""How Kubernetes puts several texts or errors into one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from simcloud.golang.quoting import quote


def quoted_list(texts: Iterable[str]) -> str:
    """Texts as Go's ``%q`` prints a list: ``["a" "b"]``."""
    return f"[{' '.join(quote(text) for text in texts)}]"


def aggregate(sentences: Iterable[str]) -> str:
    """Several errors as one: the only one bare, more of them in brackets, none twice."""
    unique = list(dict.fromkeys(sentences))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
