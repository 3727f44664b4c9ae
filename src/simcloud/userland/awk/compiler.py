"""Compiles the rules and functions of a program."""

from __future__ import annotations

from msgspec import Struct

from simcloud.userland.awk import tree
from simcloud.userland.awk.analysis import Analysis
from simcloud.userland.awk.array_builtins import ARRAY_BUILTINS
from simcloud.userland.awk.code import Frame, FunctionCode, Scope, Signal, Unit
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.main_input import MainInput
from simcloud.userland.awk.number_builtins import NUMBER_BUILTINS
from simcloud.userland.awk.runtime import Runtime
from simcloud.userland.awk.statement_code import StatementCompiler
from simcloud.userland.awk.text_builtins import TEXT_BUILTINS
from simcloud.userland.awk.values import UNSET, Input
from simcloud.userland.awk.variables import PREDEFINED, WATCHED
from simcloud.userland.awk.waiting_code import Either, result_of


class RuleCode(Struct, frozen=True):
    """A compiled rule with its frame."""

    code: Either
    frame: Frame
    last_place: str


class ProgramCode(Struct, frozen=True):
    """A compiled program."""

    begin: list[RuleCode]
    records: list[RuleCode]
    end: list[RuleCode]
    main_input: MainInput


class Variables:
    """The program's global variables by name, for assignments on the command line."""

    def __init__(self, runtime: Runtime, program: tree.Program) -> None:
        self._runtime = runtime
        self._functions = program.functions
        self.slots = {name: slot for slot, name in enumerate(PREDEFINED)}
        for node in tree.walk(program):
            if isinstance(node, tree.Name) and node.name not in self.slots:
                self.slots[node.name] = len(self.slots)
        runtime.globals += [UNSET] * (len(self.slots) - len(PREDEFINED))

    def assign(self, name: str, text: str) -> None:
        """``name=text`` from the command line; the text's escapes are resolved already."""
        if name in self._functions:
            raise Fatal(f"cannot use function `{name}' as variable name")
        slot = self.slots.get(name)
        if slot is None:
            return
        if type(self._runtime.globals[slot]) is dict:
            raise Fatal(f"attempt to use array `{name}' in a scalar context")
        self._runtime.globals[slot] = Input(text)
        if name in WATCHED:
            self._runtime.watch(name, Input(text))


def compile_program(
    program: tree.Program, runtime: Runtime, names: Variables, main_input: MainInput
) -> ProgramCode:
    """Compile everything. Raises ``ProgramError`` or ``Fatal`` for what cannot be right."""
    analysis = Analysis(program)
    unit = Unit(runtime, analysis, names.slots, {}, TEXT_BUILTINS | NUMBER_BUILTINS | ARRAY_BUILTINS)
    for function in program.functions.values():
        unit.functions[function.name] = FunctionCode(
            function.name,
            function.parameters,
            tuple((function.name, name) in analysis.arrays for name in function.parameters),
            function.name in analysis.waiting_functions,
            Scope(function.name, function.parameters),
        )
    for function in program.functions.values():
        code = unit.functions[function.name]
        body = StatementCompiler(unit, code.scope, main_input).statement(function.body)
        code.body = _waiting(body).run if code.waits else body.run
    kinds: dict[str, list[RuleCode]] = {"BEGIN": [], "record": [], "END": []}
    for rule in program.rules:
        scope = Scope()
        compiled = _rule(StatementCompiler(unit, scope, main_input), rule)
        kinds[rule.kind].append(RuleCode(compiled, scope.frame(), _last_place(rule)))
    return ProgramCode(kinds["BEGIN"], kinds["record"], kinds["END"], main_input)


def _last_place(rule: tree.Rule) -> str:
    """Return the place of the rule's last statement."""
    return rule.body.statements[-1].place if rule.body is not None and rule.body.statements else rule.place


def _waiting(code: Either) -> Either:
    """The same code in a form that can be awaited."""
    if code.waits:
        return code

    async def run(frame: Frame) -> Signal:
        signal: Signal = code.run(frame)
        return signal

    return Either(True, run)


def _rule(compiler: StatementCompiler, rule: tree.Rule) -> Either:
    body = (
        rule.body
        if rule.body is not None
        else tree.Block((tree.Print(False, (), "", None, place=rule.place),))
    )
    action = compiler.statement(body)
    if rule.pattern is None:
        return action
    first = compiler.condition(rule.pattern, rule.place)
    if rule.until is not None:
        return _range(first, compiler.condition(rule.until, rule.place), action)
    if not (first.waits or action.waits):
        test, act = first.run, action.run
        return Either(False, lambda frame: act(frame) if test(frame) else None)

    async def run(frame: Frame) -> Signal:
        signal: Signal = await result_of(action, frame) if await result_of(first, frame) else None
        return signal

    return Either(True, run)


def _range(first: Either, last: Either, action: Either) -> Either:
    """``first, last { … }``: from a record that matches the first to one that matches the last."""
    inside = False

    def run_at_once(frame: Frame) -> Signal:
        nonlocal inside
        if not inside and not first.run(frame):
            return None
        inside = not last.run(frame)
        signal: Signal = action.run(frame)
        return signal

    if not (first.waits or last.waits or action.waits):
        return Either(False, run_at_once)

    async def run(frame: Frame) -> Signal:
        nonlocal inside
        if not inside and not await result_of(first, frame):
            return None
        inside = not await result_of(last, frame)
        signal: Signal = await result_of(action, frame)
        return signal

    return Either(True, run)
