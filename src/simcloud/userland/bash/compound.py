"""Compound commands: groups, subshells, conditions, loops, case, functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from simcloud.machine.process import ForkFailed
from simcloud.userland.bash.arithmetic import ArithmeticError_, Unbound, evaluate
from simcloud.userland.bash.conditions import evaluate_conditional
from simcloud.userland.bash.control import Abandoned, LeaveLoop
from simcloud.userland.bash.escapes import quote_if_needed
from simcloud.userland.bash.patterns import compile_pattern
from simcloud.userland.bash.printer import command_text
from simcloud.userland.bash.state import Function
from simcloud.userland.bash.syntax import (
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    Conditional,
    For,
    FunctionDefinition,
    Group,
    If,
    Sequence,
    Subshell,
    While,
    Word,
)
from simcloud.userland.bash.variable import VariableError, is_name

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


async def _group(shell: Shell, node: Group) -> int:
    return await shell.interpreter.sequence(node.body)


async def _subshell(shell: Shell, node: Subshell) -> int:
    async def run(child: Shell) -> int:
        items = node.body.items
        return await child.run_command(items[0][0] if len(items) == 1 and not items[0][1] else node.body)

    try:
        process = shell.fork(run, dict(shell.ctx.process.streams))
    except ForkFailed as error:
        await shell.fork_failed(error)
    status = await process.wait()
    shell.pipe_statuses = [status]
    if process.ended_by is not None:
        await shell.jobs.announce(process, command_text(node), foreground=True)
        shell.abandon_if_interrupted(process)
    return status


async def _condition(shell: Shell, condition: Sequence) -> int:
    """Run what decides: its failure is an answer, not an error."""
    shell.tolerant += 1
    try:
        return await shell.interpreter.sequence(condition)
    finally:
        shell.tolerant -= 1


async def _if(shell: Shell, node: If) -> int:
    for condition, body in node.branches:
        if await _condition(shell, condition) == 0:
            return await shell.interpreter.sequence(body)
    return await shell.interpreter.sequence(node.otherwise) if node.otherwise is not None else 0


async def _turn(shell: Shell, body: Sequence) -> tuple[int, bool]:
    """One turn of a loop: its status, and whether the loop ends here."""
    shell.ctx.spend_turn()
    await shell.ctx.pay_time()
    try:
        return await shell.interpreter.sequence(body), False
    except LeaveLoop as leaving:
        if leaving.levels > 1 and shell.loops > 1:
            raise leaving.outwards() from None
        return leaving.status, not leaving.resume


async def _while(shell: Shell, node: While) -> int:
    status = 0
    shell.loops += 1
    try:
        while True:
            try:
                if (await _condition(shell, node.condition) == 0) is node.until:
                    return status
            except LeaveLoop as leaving:
                if leaving.levels > 1 and shell.loops > 1:
                    raise leaving.outwards() from None
                if leaving.resume:
                    shell.ctx.spend_turn()
                    continue
                return leaving.status
            status, ended = await _turn(shell, node.body)
            if ended:
                return status
    finally:
        shell.loops -= 1


async def _for(shell: Shell, node: For) -> int:
    shell.line = node.line
    if not is_name(node.name):
        await shell.complain(f"`{node.name}': not a valid identifier")
        return 1
    words = list(shell.state.arguments) if node.words is None else await shell.expander.words(node.words)
    status = 0
    shell.loops += 1
    try:
        for word in words:
            if shell.state.options.get("xtrace"):
                shown = '"$@"' if node.words is None else " ".join(text.text for text in node.words)
                await shell.interpreter.trace(f"for {node.name} in {shown}")
            if not await _assign_loop_variable(shell, node.name, word):
                return 1
            status, ended = await _turn(shell, node.body)
            if ended:
                break
    finally:
        shell.loops -= 1
    return status


async def _assign_loop_variable(shell: Shell, name: str, value: str) -> bool:
    try:
        variable = shell.state.find_plain(name)
        if variable is not None and variable.nameref:
            variable.scalar = value
        else:
            shell.state.assign(name, value)
    except VariableError as error:
        await shell.complain(str(error))
        return False
    except ArithmeticError_ as error:
        await shell.complain(str(error))
        raise Abandoned(1) from None
    return True


async def _arithmetic(shell: Shell, word: Word) -> int | None:
    """The value of an expression in ``((...))``; None when it is wrong, which has been reported."""
    text = word.literal if word.literal is not None else await shell.expander.string(word)
    try:
        return evaluate(text, shell.state)
    except ArithmeticError_ as error:
        await shell.complain(f"((: {error}")
    except VariableError as error:
        await shell.complain(str(error))
    except Unbound as error:
        await shell.complain(f"{error}: unbound variable")
        raise Abandoned(1, fatal=True) from None
    return None


async def _arithmetic_command(shell: Shell, node: ArithmeticCommand) -> int:
    shell.line = node.line
    if shell.state.options.get("xtrace"):
        await shell.interpreter.trace(f"(( {node.expression.text.strip()} ))")
    value = await _arithmetic(shell, node.expression)
    status = int(not value)
    shell.pipe_statuses = [status]
    return status


async def _arithmetic_for(shell: Shell, node: ArithmeticFor) -> int:
    shell.line = node.line
    if await _arithmetic(shell, node.start) is None:
        return 1
    status = 0
    shell.loops += 1
    try:
        while True:
            if node.test.text.strip():
                value = await _arithmetic(shell, node.test)
                if value is None:
                    return 1
                if value == 0:
                    return status
            status, ended = await _turn(shell, node.body)
            if ended:
                return status
            if await _arithmetic(shell, node.step) is None:
                return 1
    finally:
        shell.loops -= 1


async def _case(shell: Shell, node: Case) -> int:
    shell.line = node.line
    subject = await shell.expander.string(node.subject)
    if shell.state.options.get("xtrace"):
        await shell.interpreter.trace(f"case {quote_if_needed(subject)} in")
    status = 0
    falls_through = False
    for clause in node.clauses:
        if not falls_through and not await _matches_any(shell, clause.patterns, subject):
            continue
        status = await shell.interpreter.sequence(clause.body) if clause.body.items else 0
        falls_through = clause.terminator == ";&"
        if clause.terminator == ";;":
            break
    return status


async def _matches_any(shell: Shell, patterns: list[Word], subject: str) -> bool:
    shopts = shell.state.shopts
    for word in patterns:
        pattern = await shell.expander.pattern(word)
        if compile_pattern(pattern, shopts.get("extglob", False), shopts.get("nocasematch", False)).matches(
            subject
        ):
            return True
    return False


async def _conditional(shell: Shell, node: Conditional) -> int:
    shell.line = node.line
    status = await evaluate_conditional(shell, node.test)
    shell.pipe_statuses = [status]
    return status


async def _function_definition(shell: Shell, node: FunctionDefinition) -> int:
    before = shell.state.functions.get(node.name)
    if before is not None and before.readonly:
        await shell.complain(f"{node.name}: readonly function")
        return 1
    source = shell.state.frames[-1].source_name if shell.state.frames else shell.definition_name
    shell.state.functions[node.name] = Function(node.name, node.body, source, node.line)
    return 0


COMPOUND: dict[type, Callable[[Shell, Any], Awaitable[int]]] = {
    Group: _group,
    Subshell: _subshell,
    If: _if,
    While: _while,
    For: _for,
    ArithmeticFor: _arithmetic_for,
    Case: _case,
    ArithmeticCommand: _arithmetic_command,
    Conditional: _conditional,
    FunctionDefinition: _function_definition,
}
