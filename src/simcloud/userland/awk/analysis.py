"""Static analysis of a program.

* Which parts may wait: those that read, run commands, or print into files and commands, and loops and
  functions that print at all, so that endless output is written while it is produced. Everything else
  runs without waiting, which is several times faster.
* Which names are arrays: awk has no declarations, so this follows from the uses of a name, across function
  calls too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from simcloud.userland.awk import tree
from simcloud.userland.awk.operands import ARRAY_ARGUMENTS
from simcloud.userland.awk.variables import PREDEFINED_ARRAYS

WAITING_BUILTINS: Final = frozenset(("system", "close", "fflush"))

Use = tuple[str, str]
"""A name in a function; the function is empty for global names."""


class Analysis:
    """Static facts about one program."""

    def __init__(self, program: tree.Program) -> None:
        self._program = program
        self.waiting_functions: frozenset[str] = frozenset()
        self._find_waiting_functions()
        self.arrays: dict[Use, None] = {("", name): None for name in sorted(PREDEFINED_ARRAYS)}
        self.scalars: dict[Use, None] = {}
        self.passed_arrays: dict[Use, str] = {}
        self.has_nested_arrays = any(
            isinstance(getattr(node, "array", None), tree.Index) for node in tree.walk(program)
        )
        self._find_uses()
        self._follow_calls()

    # -- waiting -------------------------------------------------------------------------------

    def waits(self, part: object) -> bool:
        """Whether running this part (a node, or several) may have to wait."""
        pending: list[tuple[object, bool]] = [(part, False)]
        while pending:
            node, in_loop = pending.pop()
            if isinstance(node, tree.Node) and self._waits_itself(node, in_loop):
                return True
            in_loop = in_loop or isinstance(node, tree.Loop | tree.ForIn)
            pending.extend((child, in_loop) for child in tree.children(node))
        return False

    def _waits_itself(self, node: tree.Node, in_loop: bool) -> bool:
        match node:
            case tree.Getline():
                return True
            case tree.Builtin():
                return node.name in WAITING_BUILTINS
            case tree.Print():
                return in_loop or node.redirection != ""
            case tree.Call():
                return node.name in self.waiting_functions
        return False

    def _find_waiting_functions(self) -> None:
        functions = self._program.functions.values()
        waiting = frozenset(function.name for function in functions if _prints(function))
        found = -1
        while found != len(waiting):
            found, self.waiting_functions = len(waiting), waiting
            waiting |= {function.name for function in functions if self.waits(function.body)}

    # -- arrays --------------------------------------------------------------------------------

    def _owner(self, function: tree.Function | None, name: str) -> Use:
        if function is not None and name in function.parameters:
            return function.name, name
        return "", name

    def _find_uses(self) -> None:
        for rule in self._program.rules:
            self._collect(None, rule)
        for function in self._program.functions.values():
            self._collect(function, function.body)

    def _collect(self, function: tree.Function | None, part: tree.Node) -> None:
        mentions: Counter[Use] = Counter()
        not_scalar: Counter[Use] = Counter()
        for node in tree.walk(part):
            if isinstance(node, tree.Name):
                mentions[self._owner(function, node.name)] += 1
            for name, is_array in self._array_places(node):
                use = self._owner(function, name)
                not_scalar[use] += 1
                if is_array:
                    self.arrays[use] = None
        self.scalars |= {use: None for use, count in mentions.items() if count > not_scalar[use]}

    def _array_places(self, node: tree.Node) -> Iterator[tuple[str, bool]]:
        """Names that stand where an array must stand, or (False) where one may."""
        array = getattr(node, "array", None)
        if isinstance(array, tree.Name):
            yield array.name, True
        if isinstance(node, tree.Builtin):
            required = ARRAY_ARGUMENTS.get(node.name, ())
            for position, argument in enumerate(node.arguments):
                if isinstance(argument, tree.Name) and (position in required or node.name == "length"):
                    yield argument.name, position in required
        elif isinstance(node, tree.Call) and node.name in self._program.functions:
            yield from ((item.name, False) for item in node.arguments if isinstance(item, tree.Name))

    def _follow_calls(self) -> None:
        """An argument is an array if the parameter is, and a parameter may be one if an argument is."""
        calls: list[tuple[tree.Function | None, tree.Call]] = []
        functions = self._program.functions
        for owner, part in [(None, rule) for rule in self._program.rules] + [
            (function, function.body) for function in functions.values()
        ]:
            calls += [(owner, node) for node in tree.walk(part) if isinstance(node, tree.Call)]
        before = -1
        while before != len(self.arrays) + len(self.passed_arrays):
            before = len(self.arrays) + len(self.passed_arrays)
            for owner, call in calls:
                if call.name in functions:
                    self._follow(owner, call, functions[call.name])

    def _follow(self, owner: tree.Function | None, call: tree.Call, called: tree.Function) -> None:
        for parameter, argument in zip(called.parameters, call.arguments, strict=False):
            inside = called.name, parameter
            if isinstance(argument, tree.Index) and self.has_nested_arrays:
                self.passed_arrays.setdefault(inside, "")
            if not isinstance(argument, tree.Name):
                continue
            outside = self._owner(owner, argument.name)
            if inside in self.arrays:
                self.arrays[outside] = None
            if outside in self.arrays or outside in self.passed_arrays:
                self.passed_arrays.setdefault(inside, argument.name)


def _prints(node: tree.Node) -> bool:
    return any(isinstance(part, tree.Print) for part in tree.walk(node))
