"""The stack machine that runs compiled ``bc`` code. Calls go on its own stack, so recursion may be deep."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from simcloud.machine.process import Context
from simcloud.userland.commands.text.bc import decimals, functions
from simcloud.userland.commands.text.bc.code import Code, Function, Instruction
from simcloud.userland.commands.text.bc.decimals import ONE, ZERO, Number, digits_of
from simcloud.userland.commands.text.bc.output import Output
from simcloud.userland.commands.text.bc.storage import Saved, Storage
from simcloud.userland.commands.text.tool import fail

MAX_DIGITS = 100_000
_LIMIT_STATUS = 125
_MAX_ARRAY = 16_777_215
_MAX_CALLS = 10_000
_MAX_EXPONENT = 2_147_483_649
_INSTRUCTIONS_PER_TURN = 5


class BcRuntimeError(Exception):
    """The line being run ends here."""


class Halted(Exception):
    """``halt`` was reached."""


@dataclass
class _Frame:
    code: Code
    at: int = 0
    base: int = 0
    saved: Saved = field(default_factory=Saved)


class BcMachine:
    """Runs lines one after the other; ``out`` and ``warnings`` collect what they bring forth."""

    def __init__(self, ctx: Context, with_library: bool, line_length: int) -> None:
        self._ctx = ctx
        self._library = with_library
        self._spent = 0
        self._storage = Storage(ctx, 20 if with_library else 0)
        self._stack: list[Number | str] = []
        self._frames: list[_Frame] = []
        self.functions: dict[str, Function] = {}
        self.out = Output(ctx, line_length)
        self.warnings: list[str] = []

    def run(self, code: Code) -> None:
        """Run a line. Raises ``BcRuntimeError`` or ``Halted``."""
        self._stack, self._frames = [], [_Frame(code)]
        try:
            while True:
                frame = self._frames[-1]
                if frame.at >= len(frame.code.instructions):
                    return
                instruction = frame.code.instructions[frame.at]
                frame.at += 1
                self._pay(1)
                self._step(instruction, frame)
        except BcRuntimeError:
            while self._frames:
                self._storage.restore(self._frames.pop().saved)
            raise

    def _pay(self, cost: int) -> None:
        self._spent += cost
        if self._spent >= _INSTRUCTIONS_PER_TURN:
            self._ctx.spend_turn(self._spent // _INSTRUCTIONS_PER_TURN)
            self._spent %= _INSTRUCTIONS_PER_TURN

    def _where(self, address: int) -> str:
        return f"(func={self._frames[-1].code.name}, adr={address})"

    def _fail(self, message: str, address: int) -> NoReturn:
        raise BcRuntimeError(f"Runtime error {self._where(address)}: {message}")

    def _warn(self, address: int, message: str) -> None:
        self.warnings.append(f"Runtime warning {self._where(address)}: {message}")

    def _exceed(self, what: str) -> NoReturn:
        fail(self._ctx, f"limit exceeded: {what}", _LIMIT_STATUS)

    def _pop(self) -> Number:
        value = self._stack.pop()
        return value if isinstance(value, Number) else ZERO

    def _push(self, number: Number) -> None:
        digits = digits_of(number.value)
        if digits > MAX_DIGITS:
            self._exceed(f"a number of more than {MAX_DIGITS} digits")
        self._ctx.spend_bytes(digits // 100)
        self._stack.append(number)

    def _push_truth(self, truth: bool) -> None:
        self._stack.append(ONE if truth else ZERO)

    # -- instructions --------------------------------------------------------------------------

    def _step(self, instruction: Instruction, frame: _Frame) -> None:
        op, argument, address = instruction.op, instruction.argument, instruction.address
        if op == "constant":
            self._push(decimals.parse(str(argument), self._storage.input_base))
        elif op == "calculate":
            self._calculate(str(argument), address)
        elif op.startswith(("jump", "keep")):
            self._jump(op, argument, frame)
        elif op.startswith("show"):
            self._show(newline=op == "show")
        elif op == "text":
            self.out.write(str(argument))
        elif op == "escaped text":
            self.out.write_escaped(str(argument))
        elif op == "call":
            assert isinstance(argument, tuple)
            self._call(argument[0], argument[1], address)
        elif op == "return":
            self._return()
        elif op == "halt":
            raise Halted
        elif op == "builtin":
            self._builtin(str(argument), address)
        elif op.startswith("step"):
            assert isinstance(argument, tuple)
            self._increase(op, argument[0], argument[1], address)
        else:
            self._simple(op, str(argument), address)

    def _simple(self, op: str, name: str, address: int) -> None:
        if op == "load":
            self._push(self._storage.variable(name))
        elif op == "store":
            value = self._pop()
            self._storage.set_variable(name, value, partial(self._warn, address))
            self._push(value)
        elif op == "load element":
            self._push(self._storage.element(name, self._index(name, address)))
        elif op == "store element":
            value = self._pop()
            self._storage.set_element(name, self._index(name, address), value)
            self._push(value)
        elif op == "drop":
            self._pop()
        elif op == "copy":
            self._stack.append(self._stack[-1])
        elif op == "negate":
            self._push(decimals.negate(self._pop()))
        elif op == "not":
            self._push_truth(self._pop().value == 0)
        elif op == "truth":
            self._push_truth(self._pop().value != 0)
        elif op == "compare":
            other, one = self._pop(), self._pop()
            self._push_truth(decimals.relation(name, one, other))
        else:
            self._stack.append(name)  # an array, to be handed to a function

    def _jump(self, op: str, target: object, frame: _Frame) -> None:
        assert isinstance(target, int)
        if op.startswith("jump"):
            taken = op == "jump" or (self._pop().value != 0) == (op == "jump if not zero")
        else:
            truth = self._pop().value != 0
            taken = truth == (op == "keep if not zero")
            if taken:
                self._push_truth(truth)
        if taken:
            frame.at = target

    def _calculate(self, operator: str, address: int) -> None:
        other, one = self._pop(), self._pop()
        scale = self._storage.scale
        digits = digits_of(one.value) + digits_of(other.value) + scale
        self._pay(digits * digits // 25_000)
        if operator == "+":
            self._push(decimals.add(one, other))
        elif operator == "-":
            self._push(decimals.add(one, decimals.negate(other)))
        elif operator == "*":
            self._push(decimals.multiply(one, other, scale))
        elif operator == "^":
            self._push(self._raised(one, other, address))
        elif other.value == 0:
            self._fail("Divide by zero" if operator == "/" else "Modulo by zero", address)
        else:
            function = decimals.divide if operator == "/" else decimals.remainder
            self._push(function(one, other, scale))

    def _raised(self, base: Number, exponent: Number, address: int) -> Number:
        if exponent.scale:
            self._warn(address, "non-zero scale in exponent")
        power = decimals.rescaled(exponent, 0).value
        if abs(power) > _MAX_EXPONENT:
            self._fail("exponent too large in raise", address)
        if power < 0 and base.value == 0:
            self._fail("divide by zero", address)
        if abs(base.value) > 1 and digits_of(base.value) * abs(power) > MAX_DIGITS * 2:
            self._exceed(f"a number of more than {MAX_DIGITS} digits")
        if abs(base.value) <= 1 and not base.scale:
            return Number(base.value if power % 2 else abs(base.value)) if power else ONE
        if base.scale * abs(power) > MAX_DIGITS * 2:
            self._exceed(f"a number of more than {MAX_DIGITS} digits")
        return decimals.power(base, power, self._storage.scale)

    def _index(self, name: str, address: int) -> int:
        index = decimals.rescaled(self._pop(), 0).value
        if not 0 <= index <= _MAX_ARRAY:
            self._fail(f"Array {name} subscript out of bounds.", address)
        return index

    def _increase(self, op: str, name: str, step: int, address: int) -> None:
        storage = self._storage
        if op.endswith("element"):
            index = self._index(name, address)
            old = storage.element(name, index)
            new = decimals.add(old, Number(step))
            storage.set_element(name, index, new)
        else:
            old = storage.variable(name)
            new = decimals.add(old, Number(step))
            storage.set_variable(name, new, partial(self._warn, address))
        self._push(new if op.startswith("step before") else old)

    def _show(self, newline: bool) -> None:
        number = self._pop()
        self._storage.set_variable("last", number, partial(self._warn, 0))
        self.out.write_number(decimals.show(number, self._storage.output_base))
        if newline:
            self.out.write("\n")

    # -- functions -----------------------------------------------------------------------------

    def _call(self, name: str, count: int, address: int) -> None:
        function = self.functions.get(name)
        if function is None:
            if not self._library or name not in functions.PARAMETERS:
                self._fail(f"Function {name} not defined.", address)
            self._call_library(name, count, address)
            return
        if count != len(function.parameters):
            self._fail("Parameter number mismatch", address + min(count, len(function.parameters)) + 1)
        if len(self._frames) > _MAX_CALLS:
            self._exceed(f"more than {_MAX_CALLS} calls within each other")
        arguments = [self._stack.pop() for _ in range(count)][::-1]
        frame = _Frame(function.code, base=len(self._stack))
        for name_given, value in zip(function.parameters, arguments, strict=True):
            self._storage.hide(frame.saved, name_given, value)
        for local in function.locals:
            self._storage.hide(frame.saved, local, ZERO)
        self._frames.append(frame)

    def _return(self) -> None:
        value = self._pop()
        frame = self._frames.pop()
        del self._stack[frame.base :]
        self._storage.restore(frame.saved)
        self._push(value)
        caller = self._frames[-1]
        function = self.functions.get(frame.code.name)
        if function is not None and function.is_void and caller.at < len(caller.code.instructions):
            following = caller.code.instructions[caller.at]
            if following.op == "show":
                caller.at += 1
                self._pop()

    def _call_library(self, name: str, count: int, address: int) -> None:
        wanted = functions.PARAMETERS[name]
        if count != wanted:
            self._fail("Parameter number mismatch", address + min(count, wanted) + 1)
        self._ctx.spend_turn(10 + self._storage.scale)
        arguments = [self._pop() for _ in range(count)][::-1]
        try:
            self._push(functions.call(name, arguments, self._storage.scale))
        except functions.TooLargeError as error:
            self._exceed(str(error))

    def _builtin(self, name: str, address: int) -> None:
        if name == "read":
            self._fail("read() is not supported", address)
        number = self._pop()
        if name == "scale":
            self._push(Number(number.scale))
        elif name == "length":
            self._push(Number(max(len(decimals.to_text(abs(number.value))), number.scale)))
        elif number.value < 0:
            self._fail("Square root of a negative number", address)
        else:
            self._push(decimals.square_root(number, self._storage.scale))
