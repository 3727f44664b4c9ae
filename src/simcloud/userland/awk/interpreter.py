"""Runs a compiled program: BEGIN, the records, END."""

from __future__ import annotations

from simcloud.userland.awk import variables
from simcloud.userland.awk.code import EXIT, NEXTFILE, Signal, Unwind
from simcloud.userland.awk.compiler import ProgramCode, RuleCode
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.output import MANY_PARTS
from simcloud.userland.awk.runtime import Runtime
from simcloud.userland.awk.waiting_code import result_of


async def run_program(code: ProgramCode, runtime: Runtime) -> None:
    """Run everything; the status is then in the runtime. Raises ``Fatal``."""
    ended = await _run_once(code.begin, runtime, "BEGIN")
    if not ended and (code.records or code.end):
        runtime.rule_kind = "record"
        await _run_records(code, runtime)
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
        signal: Signal = await result_of(rule.code, rule.frame)
        return signal
    except Unwind as unwinding:
        return unwinding.signal


async def _ease(code: ProgramCode, runtime: Runtime) -> None:
    try:
        await runtime.outputs.ease()
    except Fatal as error:
        error.place = code.records[-1].last_place if code.records else ""
        raise


async def _run_records(code: ProgramCode, runtime: Runtime) -> None:
    inputs, record, values = runtime.inputs, runtime.record, runtime.globals
    printed = runtime.outputs.stdout.parts
    rules = [(rule.code.waits, rule.code.run, rule.frame) for rule in code.records]
    while True:
        reader = inputs.main
        text = None if reader is None else reader.pop()
        if text is None or reader is None:
            await _ease(code, runtime)
            done_before = code.records if values[variables.NR] else code.begin
            code.main_input.place = done_before[-1].last_place if done_before else ""
            if not await code.main_input.more():
                return
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
            return
        if signal == NEXTFILE:
            code.main_input.skip_file()
        if len(printed) >= MANY_PARTS:
            await _ease(code, runtime)
