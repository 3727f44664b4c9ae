"""Parameter expansion: ``$x`` and every form of ``${...}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from simcloud.userland.bash.arithmetic import ArithmeticError_, Unbound
from simcloud.userland.bash.modifiers import (
    BREAK,
    QUOTED,
    SPLIT,
    Segment,
    change_case,
    remove_match,
    replace_matches,
    transform,
)
from simcloud.userland.bash.syntax import Parameter, Word
from simcloud.userland.bash.variable import BadSubscript, Key, Variable, VariableError, is_name

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Expander, Shell

_DEFAULTS: Final = frozenset((":-", "-", ":=", "=", ":?", "?", ":+", "+"))


class Target(Struct):
    """The value that a parameter refers to, or (``star`` is ``@`` or ``*``) a list of values."""

    label: str
    star: str
    value: str | None
    values: list[str]
    name: str
    variable: Variable | None = None
    key: Key | None = None


class Parameters:
    """Expands parameters for one shell."""

    def __init__(self, shell: Shell, expander: Expander) -> None:
        self.shell = shell
        self.expander = expander

    def plain(self, name: str) -> str | None:
        """The value of ``$name``; None when it is unset."""
        first = name[0]
        if first.isalpha() or first == "_":
            return self.shell.state.get(name)
        if first.isdigit():
            index = int(name[:9])
            if index == 0:
                return self.shell.state.name
            arguments = self.shell.state.arguments
            return arguments[index - 1] if index <= len(arguments) else None
        return self.shell.special(name)

    async def expand(self, part: Parameter, out: list[Segment], quoted: bool, split: bool) -> None:
        """Add what a parameter gives to the segments."""
        if not part.operator and part.subscript is None and not part.indirect and part.name not in ("@", "*"):
            value = self.plain(part.name)
            if value is None:
                await self._require(part.name)
            elif quoted:
                out.append((QUOTED, value))
                return
            elif value:
                out.append((SPLIT, value))
                return
            if quoted:
                out.append((QUOTED, ""))
            return
        if part.operator.startswith("names"):
            await self._names(part, out, quoted, split)
            return
        if (
            part.indirect
            and part.subscript is not None
            and part.subscript.text in ("@", "*")
            and not part.operator
        ):
            keys = self._variable_keys(part.name)
            self._emit(Target(part.name, part.subscript.text, None, keys, part.name), out, quoted, split)
            return
        target = await (self._indirect(part) if part.indirect else self.target(part.name, part.subscript))
        if part.operator in _DEFAULTS:
            await self._default(part, target, out, quoted, split)
            return
        if target.value is None and not target.star and part.operator[:1] != "@":
            await self._require(target.label)
        await self._apply(part, target)
        self._emit(target, out, quoted, split)

    async def _require(self, label: str) -> None:
        if self.shell.state.options.get("nounset") and label not in ("@", "*"):
            shown = "$" + label if label[:1].isdigit() or label == "!" else label
            await self.expander.fail(f"{shown}: unbound variable", fatal=True)

    # -- what is meant -------------------------------------------------------------------------

    async def target(self, name: str, subscript: Word | None) -> Target:
        """The value or values a name and subscript refer to."""
        if name in ("@", "*"):
            return Target(name, name, None, list(self.shell.state.arguments), name)
        if subscript is None:
            return Target(name, "", self.plain(name), [], name)
        state = self.shell.state
        name = state.resolve(name)
        variable = state.find(name)
        if subscript.text in ("@", "*"):
            values = variable.values() if variable is not None else []
            return Target(f"{name}[{subscript.text}]", subscript.text, None, values, name, variable)
        text = await self.expander.string(subscript)
        label = f"{name}[{text}]"
        try:
            key = state.element_key(name, variable, text)
        except BadSubscript:
            await self.shell.complain(f"{name}: bad array subscript")
            return Target(label, "", "", [], name, variable)
        except ArithmeticError_ as error:
            await self.expander.fail(str(error))
        except Unbound as error:
            await self.expander.fail(f"{error}: unbound variable", fatal=True)
        value: str | None = None
        if variable is not None and variable.items is not None:
            value = variable.items.get(key)
        elif variable is not None and key == 0:
            value = variable.scalar
        return Target(label, "", value, [], name, variable, key)

    async def _indirect(self, part: Parameter) -> Target:
        variable = self.shell.state.find_plain(part.name)
        if variable is not None and variable.nameref and part.subscript is None:
            return Target(part.name, "", variable.scalar or "", [], part.name)
        through = await self.target(part.name, part.subscript)
        reference = through.value
        if reference is None:
            if part.operator in _DEFAULTS or not is_name(part.name):
                return Target(part.name, "", None, [], part.name)
            await self.expander.fail(f"{part.name}: invalid indirect expansion")
        assert reference is not None
        name, bracket, rest = reference.partition("[")
        if not (is_name(name) or name.isdigit() or name in ("@", "*", "#", "?", "-", "$", "!")):
            await self.expander.fail(f"{reference}: invalid variable name")
        if bracket and rest.endswith("]"):
            return await self.target(name, self.shell.word_of(rest[:-1]))
        return await self.target(name, None)

    def _variable_keys(self, name: str) -> list[str]:
        variable = self.shell.state.find(name)
        return [str(key) for key in variable.subscripts()] if variable is not None else []

    async def _names(self, part: Parameter, out: list[Segment], quoted: bool, split: bool) -> None:
        names = [name for name in self.shell.state.all_names() if name.startswith(part.name)]
        self._emit(Target(part.name, part.operator[-1], None, names, part.name), out, quoted, split)

    # -- results -------------------------------------------------------------------------------

    def _emit(self, target: Target, out: list[Segment], quoted: bool, split: bool) -> None:
        kind = QUOTED if quoted else SPLIT
        if not target.star:
            if quoted or target.value:
                out.append((kind, target.value or ""))
            return
        if target.star == "*" and (quoted or not split):
            out.append((kind, self.expander.ifs()[:1].join(target.values)))
        elif not split:
            out.append((kind, " ".join(target.values)))
        else:
            for index, value in enumerate(target.values):
                if index:
                    out.append((BREAK, ""))
                if quoted or value:
                    out.append((kind, value))

    async def _default(
        self, part: Parameter, target: Target, out: list[Segment], quoted: bool, split: bool
    ) -> None:
        assert part.first is not None
        operator = part.operator[-1]
        if target.star:
            absent = not target.values or (part.operator[0] == ":" and not "".join(target.values))
        else:
            absent = not target.value if part.operator[0] == ":" else target.value is None
        if operator == "+":
            if not absent:
                await self._operand(part.first, out, quoted, split)
            elif quoted and not target.star:
                out.append((QUOTED, ""))
        elif not absent:
            self._emit(target, out, quoted, split)
        elif operator == "-":
            await self._operand(part.first, out, quoted, split)
        elif operator == "=":
            await self._assign_default(part, target, out, quoted)
        else:
            message = await self.expander.string(part.first)
            if not message:
                message = "parameter null or not set" if part.operator[0] == ":" else "parameter not set"
            await self.expander.fail(f"{target.label}: {message}", fatal=True)

    async def _operand(self, word: Word, out: list[Segment], quoted: bool, split: bool) -> None:
        if quoted:
            await self.expander.expand_quoted(word.parts, out, split)
        else:
            await self.expander.segments(word.parts, out, split, operand=True)

    async def _assign_default(
        self, part: Parameter, target: Target, out: list[Segment], quoted: bool
    ) -> None:
        assert part.first is not None
        value = await self.expander.string(part.first)
        if not is_name(target.name):
            await self.expander.fail(f"${target.label}: cannot assign in this way")
        try:
            if target.key is not None:
                self.shell.state.assign_element(target.name, str(target.key), value)
            else:
                self.shell.state.assign(target.name, value)
        except (VariableError, ArithmeticError_) as error:
            await self.expander.fail(str(error))
        if quoted or value:
            out.append((QUOTED if quoted else SPLIT, value))

    # -- operators -----------------------------------------------------------------------------

    async def _apply(self, part: Parameter, target: Target) -> None:
        operator = part.operator
        if not operator:
            return
        if operator == "length":
            if target.star and target.variable is None and target.name not in ("@", "*"):
                await self._require(target.name)
            count = len(target.values) if target.star else len(target.value or "")
            target.star, target.value = "", str(count)
        elif operator == ":":
            await self._substring(part, target)
        elif operator[0] == "@":
            await self._transform(operator[1:], target)
        else:
            await self._modify(part, target)

    async def _modify(self, part: Parameter, target: Target) -> None:
        assert part.first is not None
        shopts = self.shell.state.shopts
        operator = part.operator
        pattern = await self.expander.pattern(part.first)
        replacement: list[Segment] = []
        if operator[0] == "/" and part.second is not None:
            await self.expander.segments(part.second.parts, replacement, split=False)
        extglob = shopts.get("extglob", False)
        nocase = shopts.get("nocasematch", False)

        def modify(value: str) -> str:
            if operator[0] in "#%":
                return remove_match(value, pattern, operator, extglob)
            if operator[0] == "/":
                return replace_matches(value, pattern, replacement, operator, extglob, nocase, self._spend)
            return change_case(value, pattern, operator, extglob)

        if target.star:
            target.values = [modify(value) for value in target.values]
        else:
            target.value = modify(target.value or "")

    def _spend(self, size_bytes: int) -> None:
        self.shell.ctx.spend_bytes(size_bytes)

    async def _transform(self, operator: str, target: Target) -> None:
        variable = target.variable or self.shell.state.find(target.name)
        try:
            if operator in ("K", "k") and target.star and variable is not None:
                target.values = transform_pairs(variable, operator)
            elif operator in ("A", "a"):
                await self._describe(operator, target, variable)
            elif target.star:
                target.values = [transform(value, operator) for value in target.values]
            elif target.value is not None:
                target.value = transform(target.value, operator)
        except KeyError:
            await self.expander.fail(f"${{{target.label}@{operator}}}: bad substitution")

    async def _describe(self, operator: str, target: Target, variable: Variable | None) -> None:
        from simcloud.userland.bash.declarations import assignment_text

        if operator == "a":
            flags = variable.flags() if variable is not None else ""
            if target.star:
                target.values = [flags for _ in target.values]
            else:
                target.value = flags
        elif target.name in ("@", "*"):
            quoted = " ".join(transform(value, "Q") for value in target.values)
            target.star, target.value = "", f"set -- {quoted}" if target.values else ""
        elif variable is None or (target.value is None and not target.star):
            target.value = ""
        else:
            target.star, target.value = "", assignment_text(target.name, variable, bool(target.star))

    async def _substring(self, part: Parameter, target: Target) -> None:
        assert part.first is not None
        offset = await self.expander.number(part.first)
        length = await self.expander.number(part.second) if part.second is not None else None
        if target.star:
            await self._slice(part, target, offset, length)
            return
        value = target.value or ""
        if not value:
            return
        start = offset if offset >= 0 else len(value) + offset
        if start < 0 or start > len(value):
            target.value = ""
            return
        end = len(value) if length is None else start + length if length >= 0 else len(value) + length
        if length is not None and length < 0 and end < start:
            shown = part.second.text if part.second is not None else ""
            await self.expander.fail(f"{shown.strip()}: substring expression < 0")
        target.value = value[start:end]

    async def _slice(self, part: Parameter, target: Target, offset: int, length: int | None) -> None:
        if length is not None and length < 0:
            shown = part.second.text if part.second is not None else ""
            await self.expander.fail(f"{shown.strip()}: substring expression < 0")
        if target.name in ("@", "*"):
            values = [self.shell.state.name, *target.values]
            start = offset if offset >= 0 else len(values) + offset
            if offset < 0 and start <= 0:
                target.values = []
                return
        else:
            values = target.values
            start = offset
            if target.variable is not None and not target.variable.associative:
                indices = target.variable.indices()
                top = indices[-1] + 1 if indices else 0
                wanted = offset if offset >= 0 else top + offset
                start = sum(1 for index in indices if index < wanted) if wanted >= 0 else len(values)
            elif offset < 0:
                start = max(0, len(values) + offset)
        target.values = values[start:] if length is None else values[start : start + length]


def transform_pairs(variable: Variable, operator: str) -> list[str]:
    """``${a[@]@K}`` as one string of quoted pairs, ``@k`` as separate words."""
    from simcloud.userland.bash.escapes import quote_double

    pairs = [(str(key), value) for key, value in zip(variable.subscripts(), variable.values(), strict=True)]
    if operator == "k":
        return [text for pair in pairs for text in pair]
    return [" ".join(f"{key} {quote_double(value)}" for key, value in pairs)]
