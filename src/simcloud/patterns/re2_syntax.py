"""Renders a parsed expression in RE2's syntax, and detects what RE2 cannot express.

RE2 runs in time linear in the line for every pattern, so it gets everything it can express. Other constructs (back-
references, look-around and the like) are loosened to a pattern that matches at least as much: a cheap test that
spares the backtracking matcher most lines.
"""

from __future__ import annotations

from simcloud.patterns.charset import CharSet, word_set
from simcloud.patterns.tree import (
    Anchor,
    Any,
    Atomic,
    BackReference,
    Char,
    Choice,
    Condition,
    Group,
    Keep,
    Look,
    Node,
    Repeat,
    Sequence,
    Set,
    walk,
)

RE2_MAX_REPEAT = 1000

_ANCHORS = {
    "text_start": r"\A",
    "text_end": r"\z",
    "boundary": r"\b",
    "no_boundary": r"\B",
    "word_start": r"\b",
    "word_end": r"\b",
}


def needs_backtracking(tree: Node) -> bool:
    """Whether RE2 cannot express the tree."""
    for node in walk(tree):
        if isinstance(node, BackReference | Look | Atomic | Keep | Condition):
            return True
        if isinstance(node, Repeat) and node.mode == "possessive":
            return True
    return has_vague_word_edge(tree)


def may_iterate_on_nothing(tree: Node) -> bool:
    """Whether a loop may match nothing in one turn. Perl then leaves it; RE2 tries its other options."""
    return any(
        isinstance(node, Repeat) and node.high is None and _is_nullable(node.body) for node in walk(tree)
    )


def _is_nullable(node: Node) -> bool:
    """Whether a node may match the empty string."""
    match node:
        case Char() | Set() | Any():
            return False
        case Repeat(body=body, low=low):
            return low == 0 or _is_nullable(body)
        case Sequence(parts=parts):
            return all(_is_nullable(part) for part in parts)
        case Choice(options=options):
            return any(_is_nullable(option) for option in options)
        case Group(body=body) | Atomic(body=body):
            return _is_nullable(body)
        case _:
            return True


def is_bounded(tree: Node) -> bool:
    """Whether the length of a match is bounded."""
    return not any(
        isinstance(node, BackReference) or (isinstance(node, Repeat) and node.high is None)
        for node in walk(tree)
    )


def has_word_anchors(tree: Node) -> bool:
    """Whether the tree asks where words begin or end (RE2 knows ASCII words only)."""
    kinds = ("boundary", "no_boundary", "word_start", "word_end")
    return any(isinstance(node, Anchor) and node.kind in kinds for node in walk(tree))


def has_vague_word_edge(tree: Node) -> bool:
    r"""Whether a ``\<`` or ``\>`` stands where RE2's ``\b`` would not mean the same.

    It does mean the same beside something that is surely a word character.
    """
    edges = [
        node for node in walk(tree) if isinstance(node, Anchor) and node.kind in ("word_start", "word_end")
    ]
    if not edges:
        return False
    sure = sum(_sure_edges(node) for node in walk(tree) if isinstance(node, Sequence))
    return sure < len(edges)


def _sure_edges(sequence: Sequence) -> int:
    parts = sequence.parts
    count = 0
    for position, part in enumerate(parts):
        if isinstance(part, Anchor) and part.kind == "word_start":
            count += position + 1 < len(parts) and _edge_is_word(parts[position + 1], last=False)
        elif isinstance(part, Anchor) and part.kind == "word_end":
            count += position > 0 and _edge_is_word(parts[position - 1], last=True)
    return count


def _edge_is_word(node: Node, *, last: bool) -> bool:
    """Whether the first (or last) character that a node matches is always an ASCII word character."""
    match node:
        case Char(code=code):
            return word_set(utf8=False).contains(code)
        case Set(chars=chars):
            return (
                not chars.negated and not chars.categories and all(_is_word_range(*r) for r in chars.ranges)
            )
        case Group(body=body):
            return _edge_is_word(body, last=last)
        case Repeat(body=body, low=low):
            return low > 0 and _edge_is_word(body, last=last)
        case Choice(options=options):
            return all(_edge_is_word(option, last=last) for option in options)
        case Sequence(parts=parts):
            return bool(parts) and _edge_is_word(parts[-1 if last else 0], last=last)
        case _:
            return False


def _is_word_range(low: int, high: int) -> bool:
    return any(start <= low and high <= end for start, end in word_set(utf8=False).ranges)


def render_re2(tree: Node, *, loose: bool = False) -> str:
    """The tree in RE2's syntax; ``loose`` widens what RE2 lacks to match at least as much."""
    return _Renderer(tree, loose).render(tree)


class _Renderer:
    def __init__(self, tree: Node, loose: bool) -> None:
        self.loose = loose
        self.bodies: dict[int, list[Node]] = {}
        for node in walk(tree) if loose else ():
            if isinstance(node, Group):
                self.bodies.setdefault(node.index, []).append(node.body)

    def render(self, node: Node) -> str:
        match node:
            case Char(code=code, fold=fold):
                char = chr(code)
                text = char if char.isascii() and (char.isalnum() or char == "_") else f"\\x{{{code:X}}}"
                return f"(?i:{text})" if fold else text
            case Set(chars=chars, fold=fold):
                return f"(?i:{chars.re2()})" if fold else chars.re2()
            case Any(newline=newline):
                return "(?s:.)" if newline else CharSet(((10, 10),), negated=True).re2()
            case Anchor():
                return self.anchor(node)
            case Group(body=body):
                return f"({self.render(body)})"
            case Sequence(parts=parts):
                return "".join(self.wrap(p) if isinstance(p, Choice) else self.render(p) for p in parts)
            case Choice(options=options):
                return "|".join(self.render(option) for option in options)
            case Repeat():
                return self.repeat(node)
            case BackReference():
                return self.reference(node)
            case Look() | Keep():
                return ""
            case Atomic(body=body):
                return self.wrap(body)
            case Condition(yes=yes, no=no):
                return f"(?:{self.render(yes)}|{self.render(no)})"

    def wrap(self, node: Node) -> str:
        return f"(?:{self.render(node)})"

    def anchor(self, node: Anchor) -> str:
        if node.kind == "line_start":
            return "(?m:^)" if node.multiline else r"\A"
        if node.kind == "line_end":
            return "(?m:$)" if node.multiline else r"\z"
        return "" if self.loose and node.kind not in ("text_start", "text_end") else _ANCHORS[node.kind]

    def reference(self, node: BackReference) -> str:
        """Render a back-reference: a loose pattern for the text of the group."""
        body = Choice(tuple(self.bodies.get(node.index, ())))
        if any(isinstance(part, Anchor | BackReference | Condition) for part in walk(body)):
            return "(?s:.*)"
        kind = self.wrap(without_groups(body))
        return f"(?i:{kind})" if node.fold else kind

    def repeat(self, node: Repeat) -> str:
        lazy = "?" if node.mode == "lazy" else ""
        body = self.wrap(node.body)
        simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.low, node.high))
        if simple:
            return f"{body}{simple}{lazy}"
        if max(node.low, node.high or 0) <= RE2_MAX_REPEAT:
            high = "" if node.high is None else str(node.high)
            return f"{body}{{{node.low},{high}}}{lazy}"
        return _long_repeat(node, body, self.wrap(without_groups(node.body)), lazy)


def _long_repeat(node: Repeat, full: str, bare: str, lazy: str) -> str:
    """A count beyond RE2's limit, in several pieces of which only one keeps its groups."""
    before = (node.low - 1) // RE2_MAX_REPEAT if node.low else 0
    pieces = [f"{bare}{{{RE2_MAX_REPEAT}}}"] * before
    rest = node.low - RE2_MAX_REPEAT * before
    if node.high is None:
        return "".join([*pieces, f"{full}{{{rest},}}{lazy}"])
    extra = node.high - node.low
    optional = [f"{bare}{{0,{RE2_MAX_REPEAT}}}{lazy}"] * (extra // RE2_MAX_REPEAT)
    return "".join([*pieces, f"{full}{{{rest}}}", *optional, f"{bare}{{0,{extra % RE2_MAX_REPEAT}}}{lazy}"])


def without_groups(node: Node) -> Node:
    """The same tree that remembers nothing."""
    match node:
        case Group(body=body):
            return without_groups(body)
        case Sequence(parts=parts):
            return Sequence(tuple(without_groups(part) for part in parts))
        case Choice(options=options):
            return Choice(tuple(without_groups(option) for option in options))
        case Repeat(body=body):
            return Repeat(without_groups(body), node.low, node.high, node.mode)
        case Atomic(body=body):
            return Atomic(without_groups(body))
        case _:
            return node
