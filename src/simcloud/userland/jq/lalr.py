"""Builds parser tables from a grammar: LALR(1), with default reductions chosen as Bison chooses them.

jq's own parser is made by Bison, and its messages ("unexpected IDENT, expecting '}'") follow from the tables: which
tokens have an entry in the state of the error. Only the same kind of tables from the same grammar gives the same
messages in every case. Look-ahead sets are computed by the method of DeRemer and Pennello, with sets of tokens as the
bits of an integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

END = "$end"
ERROR = "error"
FAIL = 0
"""The entry that forbids a token outright, left by an operator that does not associate."""


class Rule(Struct, frozen=True):
    """``left`` may be written as ``right``; ``precedence`` names the token whose binding it has."""

    left: str
    right: tuple[str, ...]
    precedence: str = ""


class Tables(Struct, frozen=True):
    """What the parser runs on.

    ``actions[state][token]`` is ``n > 0`` to go to state ``n - 1``, ``n < 0`` to reduce by rule ``-n - 1``,
    or ``FAIL``. Rules count from 1, as rule 0 is the end. ``defaults[state]`` is the rule to reduce by for any other token, or -1.
    """

    actions: list[dict[str, int]]
    defaults: list[int]
    gotos: list[dict[str, int]]


Binding = dict[str, tuple[int, str]]
"""The precedence of a token and its associativity: ``left``, ``right``, ``none`` or ``only`` (no side)."""


def build(rules: Sequence[Rule], binding: Binding) -> Tables:
    """The tables for a grammar whose start symbol is the first rule's."""
    parts = {rule.left for rule in rules}
    automaton = Automaton(
        [Rule("$accept", (rules[0].left, END)), *(_with_precedence(rule, parts) for rule in rules)]
    )
    lookaheads = automaton.lookaheads()
    actions: list[dict[str, int]] = []
    defaults: list[int] = []
    gotos: list[dict[str, int]] = []
    for state in range(len(automaton.items)):
        row, default = _row(automaton, state, lookaheads, binding)
        actions.append(row)
        defaults.append(default)
        moves = automaton.moves[state]
        gotos.append({symbol: target for symbol, target in moves.items() if symbol in automaton.rules_of})
    return Tables(actions, defaults, gotos)


def _with_precedence(rule: Rule, parts: set[str]) -> Rule:
    """Unless it says otherwise, a rule binds as tightly as its last token."""
    last = next((symbol for symbol in reversed(rule.right) if symbol not in parts), "")
    return Rule(rule.left, rule.right, rule.precedence or last)


class Automaton:
    """The states of the grammar: the rules in progress, and the position in each."""

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.rules_of: dict[str, list[int]] = {}
        for number, rule in enumerate(rules):
            self.rules_of.setdefault(rule.left, []).append(number)
        self.nullable = self._find_nullable()
        self.items: list[tuple[tuple[int, int], ...]] = []
        self.moves: list[dict[str, int]] = []
        self._make_states()

    def _find_nullable(self) -> set[str]:
        nullable: set[str] = set()
        changed = True
        while changed:
            changed = False
            for rule in self.rules:
                if rule.left not in nullable and all(symbol in nullable for symbol in rule.right):
                    nullable.add(rule.left)
                    changed = True
        return nullable

    def _closure(self, kernel: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        items = list(kernel)
        opened: set[str] = set()
        for rule, dot in items:  # the list grows while it is walked
            right = self.rules[rule].right
            if dot < len(right) and right[dot] in self.rules_of and right[dot] not in opened:
                opened.add(right[dot])
                items.extend((number, 0) for number in self.rules_of[right[dot]])
        return items

    def _make_states(self) -> None:
        kernels: dict[tuple[tuple[int, int], ...], int] = {((0, 0),): 0}
        waiting = list(kernels)
        for kernel in waiting:  # the list grows while it is walked
            items = self._closure(kernel)
            self.items.append(tuple(items))
            after: dict[str, list[tuple[int, int]]] = {}
            for rule, dot in items:
                right = self.rules[rule].right
                if dot < len(right):
                    after.setdefault(right[dot], []).append((rule, dot + 1))
            moves: dict[str, int] = {}
            for symbol, following in after.items():
                target = tuple(sorted(following))
                if target not in kernels:
                    kernels[target] = len(kernels)
                    waiting.append(target)
                moves[symbol] = kernels[target]
            self.moves.append(moves)

    def lookaheads(self) -> dict[tuple[int, int], list[str]]:
        """For a state and a rule complete in it: the tokens after which to reduce."""
        tokens = sorted({symbol for rule in self.rules for symbol in rule.right} - self.rules_of.keys())
        bit = {token: 1 << place for place, token in enumerate(tokens)}
        transitions = [
            (state, symbol)
            for state, moves in enumerate(self.moves)
            for symbol in moves
            if symbol in self.rules_of
        ]
        reads: dict[tuple[int, str], list[tuple[int, str]]] = {}
        direct: dict[tuple[int, str], int] = {}
        for state, symbol in transitions:
            moves = self.moves[self.moves[state][symbol]]
            direct[state, symbol] = sum(bit[token] for token in moves if token in bit)
            reads[state, symbol] = [
                (self.moves[state][symbol], name) for name in moves if name in self.nullable
            ]
        follows = _spread(transitions, reads, direct)
        includes, lookback = self._relations(transitions)
        follows = _spread(transitions, includes, follows)
        found: dict[tuple[int, int], list[str]] = {}
        for place, origins in lookback.items():
            mask = 0
            for origin in origins:
                mask |= follows[origin]
            found[place] = [token for token in tokens if mask & bit[token]]
        return found

    def _relations(
        self, transitions: list[tuple[int, str]]
    ) -> tuple[dict[tuple[int, str], list[tuple[int, str]]], dict[tuple[int, int], list[tuple[int, str]]]]:
        includes: dict[tuple[int, str], list[tuple[int, str]]] = {place: [] for place in transitions}
        lookback: dict[tuple[int, int], list[tuple[int, str]]] = {}
        for start, left in transitions:
            for number in self.rules_of[left]:
                right = self.rules[number].right
                state = start
                for place, symbol in enumerate(right):
                    if symbol in self.rules_of and all(name in self.nullable for name in right[place + 1 :]):
                        includes[state, symbol].append((start, left))
                    state = self.moves[state][symbol]
                lookback.setdefault((state, number), []).append((start, left))
        return includes, lookback


def _spread(
    nodes: list[tuple[int, str]],
    edges: dict[tuple[int, str], list[tuple[int, str]]],
    initial: dict[tuple[int, str], int],
) -> dict[tuple[int, str], int]:
    """The union of each node's set with the sets of all nodes it can reach."""
    sets = dict(initial)
    changed = True
    while changed:
        changed = False
        for node in reversed(nodes):
            total = sets[node]
            for other in edges[node]:
                total |= sets[other]
            if total != sets[node]:
                sets[node] = total
                changed = True
    return sets


def _row(
    automaton: Automaton, state: int, lookaheads: dict[tuple[int, int], list[str]], binding: Binding
) -> tuple[dict[str, int], int]:
    row = {
        symbol: target + 1
        for symbol, target in automaton.moves[state].items()
        if symbol not in automaton.rules_of
    }
    counts: dict[int, int] = {}
    for number in sorted(
        {rule for rule, dot in automaton.items[state] if dot == len(automaton.rules[rule].right)}
    ):
        for token in lookaheads.get((state, number), []):
            entry = _resolve(automaton.rules[number], token, row.get(token), -number - 1, binding)
            row[token] = entry
            if entry == -number - 1:
                counts[number] = counts.get(number, 0) + 1
    default = max(counts, key=lambda number: (counts[number], -number), default=-1)
    if ERROR in row:
        default = -1
    if default >= 0:
        row = {token: entry for token, entry in row.items() if entry != -default - 1}
    return row, default


def _resolve(rule: Rule, token: str, present: int | None, reduce: int, binding: Binding) -> int:
    """Shift or reduce: what binds more tightly wins."""
    if present is None:
        return reduce
    if present <= FAIL:
        raise ValueError(f"the grammar is ambiguous at {token}: {rule}")
    if rule.precedence not in binding or token not in binding:
        raise ValueError(f"no precedence decides at {token}: {rule}")
    ours, theirs = binding[rule.precedence], binding[token]
    if ours[0] != theirs[0]:
        return reduce if ours[0] > theirs[0] else present
    return {"left": reduce, "right": present, "none": FAIL}[ours[1]]
