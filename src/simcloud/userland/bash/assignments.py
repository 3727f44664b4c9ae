"""Assignments: ``x=1``, ``x+=1``, ``a[i]=v``, ``a=(...)``, alone, before a command, or as its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.userland.bash.arithmetic import ArithmeticError_, Unbound
from simcloud.userland.bash.escapes import quote_if_needed
from simcloud.userland.bash.syntax import Assignment, Element, Word
from simcloud.userland.bash.variable import BadSubscript, Readonly, Variable, VariableError

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


COPIED_CHARS_A_TURN: Final = 1 << 14
"""Appending copies the whole value: free while it is short, charged in a loop that makes it ever longer."""


class ArrayArgument(str):
    """An argument ``name=(...)`` of a declaration builtin, with its elements."""

    __slots__ = ("assignment",)
    assignment: Assignment


class Assigner:
    """Performs assignments for one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    async def arguments(self, words: list[Word]) -> list[str]:
        """The words of a command expanded; ``name=value`` arguments of declarations are not split."""
        expander = self.shell.expander
        if all(word.assignment is None for word in words):
            return await expander.words(words)
        arguments: list[str] = []
        for word in words:
            assignment = word.assignment
            if assignment is None:
                arguments += await expander.words([word])
            elif assignment.elements is not None:
                argument = ArrayArgument(assignment.text)
                argument.assignment = assignment
                arguments.append(argument)
            else:
                assert assignment.value is not None
                subscript = ""
                if assignment.subscript is not None:
                    subscript = f"[{await expander.string(assignment.subscript)}]"
                value = await expander.string(assignment.value)
                operator = "+=" if assignment.append else "="
                arguments.append(f"{assignment.name}{subscript}{operator}{value}")
        return arguments

    async def assign(self, assignment: Assignment) -> None:
        """Make one assignment; a mistake is reported and gives the line up."""
        shell = self.shell
        expander = shell.expander
        try:
            if assignment.elements is not None:
                await self.assign_array(assignment.name, assignment.elements, assignment.append)
                await self._trace(assignment, assignment.text.partition("=")[2])
                return
            assert assignment.value is not None
            value = await expander.string(assignment.value)
            await self._trace(assignment, quote_if_needed(value) if value else "")
            if assignment.subscript is not None:
                if assignment.subscript.text in ("@", "*"):
                    raise BadSubscript(f"{assignment.name}[{assignment.subscript.text}]")
                subscript = await expander.string(assignment.subscript)
                shell.state.assign_element(assignment.name, subscript, value, assignment.append)
            else:
                if assignment.append:
                    shell.ctx.spend_turn(len(shell.state.get(assignment.name) or "") // COPIED_CHARS_A_TURN)
                shell.state.assign(assignment.name, value, assignment.append)
                self._after(assignment.name)
        except (VariableError, ArithmeticError_) as error:
            await expander.fail(str(error))
        except Unbound as error:
            await expander.fail(f"{error}: unbound variable", fatal=True)

    def _after(self, name: str) -> None:
        if self.shell.state.options.get("allexport"):
            self.shell.state.variable(name).exported = True
        if name == "OPTIND":
            self.shell.getopts_position = 1

    async def _trace(self, assignment: Assignment, shown: str) -> None:
        if self.shell.state.options.get("xtrace"):
            operator = "+=" if assignment.append else "="
            subscript = f"[{assignment.subscript.text}]" if assignment.subscript is not None else ""
            await self.shell.interpreter.trace(f"{assignment.name}{subscript}{operator}{shown}")

    async def assign_array(
        self, name: str, elements: list[Element], append: bool, variable: Variable | None = None
    ) -> None:
        """``name=(...)``; raises ``VariableError``."""
        state = self.shell.state
        if variable is None:
            name = state.resolve(name)
            variable = state.variable(name)
        if variable.readonly:
            raise Readonly(name)
        if variable.items is None:
            if not append:
                variable.scalar = None
            variable.make_array(variable.associative)
        prepared = await self._elements(elements, variable)
        if not append:
            variable.items = {}
        assert variable.items is not None
        position = max(variable.indices(), default=-1) + 1
        for subscript, value, adds in prepared:
            if subscript is None:
                key: int | str = position
            else:
                key = state.element_key(name, variable, subscript)
            state.store_element(name, variable, key, value, adds)
            if isinstance(key, int):
                position = key + 1

    async def _elements(
        self, elements: list[Element], variable: Variable
    ) -> list[tuple[str | None, str, bool]]:
        """Subscripts and values, expanded before the array changes: they may mention it."""
        expander = self.shell.expander
        prepared: list[tuple[str | None, str, bool]] = []
        plain: list[str] = []
        for element in elements:
            if element.subscript is not None:
                subscript = await expander.string(element.subscript)
                prepared.append((subscript, await expander.string(element.value), element.append))
            elif variable.associative:
                plain += await expander.words([element.value])
            else:
                prepared += [(None, field, False) for field in await expander.words([element.value])]
        for index in range(0, len(plain), 2):
            prepared.append((plain[index], plain[index + 1] if index + 1 < len(plain) else "", False))
        return prepared

    async def temporary(self, assignments: list[Assignment]) -> dict[str, Variable]:
        """Assignments before a command: variables for its time only, exported."""
        shell = self.shell
        scope: dict[str, Variable] = {}
        for assignment in assignments:
            if assignment.subscript is not None:
                place = f"{assignment.name}[{assignment.subscript.text}]"
                await shell.complain(f"`{place}': not a valid identifier")
                continue
            if assignment.value is None:
                continue
            value = await shell.expander.string(assignment.value)
            await self._trace(assignment, quote_if_needed(value) if value else "")
            name = shell.state.resolve(assignment.name)
            before = shell.state.find(name)
            if before is not None and before.readonly:
                await shell.complain(str(Readonly(name)))
                continue
            if assignment.append:
                value = (shell.state.get(name) or "") + value
            variable = scope[name] = Variable(value)
            variable.exported = True
        return scope
