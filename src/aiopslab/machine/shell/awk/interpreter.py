"""Running a compiled program: BEGIN, the records, END."""

from __future__ import annotations

from aiopslab.machine.shell.awk import variables
from aiopslab.machine.shell.awk.compiler import ProgramCode, RuleCode
from aiopslab.machine.shell.awk.control import EXIT, NEXTFILE, Signal, Unwind
from aiopslab.machine.shell.awk.output import MANY_PARTS
from aiopslab.machine.shell.awk.runtime import Runtime


async def run_program(code: ProgramCode, runtime: Runtime) -> None:
    """Run everything; the status is then in the runtime. Raises ``Fatal``."""
    ended = await _run_once(code.begin, runtime, "BEGIN")
    if not ended and (code.records or code.end):
        runtime.rule_kind = "record"
        ended = await _run_records(code, runtime)
    await _run_once(code.end, runtime, "END")


async def _run_once(rules: list[RuleCode], runtime: Runtime, kind: str) -> bool:
    """Run BEGIN or END rules; whether the program is to end."""
    runtime.rule_kind = kind
    for rule in rules:
        signal = await _run_rule(rule)
        if signal == EXIT:
            return True
    return False


async def _run_rule(rule: RuleCode) -> Signal:
    try:
        signal: Signal = rule.code.run(rule.frame)
        if rule.waits:
            signal = await signal  # type: ignore[misc]
        return signal
    except Unwind as unwinding:
        return unwinding.signal


async def _run_records(code: ProgramCode, runtime: Runtime) -> bool:
    inputs, outputs, record, values = runtime.inputs, runtime.outputs, runtime.record, runtime.globals
    printed = outputs.stdout.parts
    rules = [(rule.waits, rule.code.run, rule.frame) for rule in code.records]
    while True:
        reader = inputs.main
        text = None if reader is None else reader.pop()
        if text is None or reader is None:
            await outputs.ease()
            if not await code.main_input.more():
                return False
            continue
        values[variables.NR] += 1.0
        values[variables.FNR] += 1.0
        values[variables.RT] = reader.terminator
        record.set(text)
        try:
            signal: Signal = None
            for waits, run, frame in rules:
                signal = await run(frame) if waits else run(frame)
                if signal is not None:
                    break
        except Unwind as unwinding:
            signal = unwinding.signal
        if signal == EXIT:
            return True
        if signal == NEXTFILE:
            code.main_input.skip_file()
        if len(printed) >= MANY_PARTS:
            await outputs.ease()
