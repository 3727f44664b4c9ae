"""Instructions for the stack machine of ``bc``, and how expressions become them.

Each instruction knows where it would end in genuine bc's own code, because run-time errors name that place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simcloud.userland.commands.text.bc.expressions import Node


@dataclass
class Instruction:
    """What to do, with what, and where its code ends."""

    op: str
    argument: object = None
    address: int = 0


@dataclass
class Code:
    """Instructions of a line or a function."""

    name: str = "(main)"
    instructions: list[Instruction] = field(default_factory=list)
    size: int = 0

    def add(self, op: str, size: int, argument: object = None) -> Instruction:
        """Append an instruction whose code has that many bytes."""
        self.size += size
        instruction = Instruction(op, argument, self.size)
        self.instructions.append(instruction)
        return instruction


@dataclass
class Function:
    """A function's parameters and local variables (arrays end in ``[]``), and its code."""

    parameters: list[str]
    locals: list[str]
    code: Code
    is_void: bool = False


def emit_expression(code: Code, node: Node) -> None:
    """Append the instructions that leave the value of an expression on the stack."""
    if node.kind == "number":
        code.add("constant", 1 if node.name in ("0", "1") else len(node.name) + 2, node.name)
    elif node.kind in ("or", "and"):
        emit_expression(code, node.parts[0])
        both = node.kind == "and"
        shortcut = code.add("keep if zero" if both else "keep if not zero", 5 if both else 3)
        emit_expression(code, node.parts[1])
        code.add("truth", 6 if both else 8)
        shortcut.argument = len(code.instructions)
    elif node.kind == "assign":
        _emit_assignment(code, node)
    elif node.kind in ("step before", "step after"):
        _emit_step(code, node)
    else:
        for part in node.parts:
            emit_expression(code, part)
        if node.kind == "variable":
            code.add("load", 2, node.name)
        elif node.kind == "element":
            code.add("load element", 2, node.name)
        elif node.kind == "array":
            code.add("array", 3, node.name)
        elif node.kind == "call":
            code.add("call", 2, (node.name, len(node.parts)))
            code.size += len(node.parts) + 1
        elif node.kind == "builtin":
            code.add("builtin", 2, node.name)
        elif node.kind != "group":
            code.add(node.kind, 1, node.name)


def _emit_assignment(code: Code, node: Node) -> None:
    place, value = node.parts
    for part in place.parts:
        emit_expression(code, part)
    suffix = " element" if place.kind == "element" else ""
    if node.name != "=":
        if suffix:
            code.add("copy", 1)
        code.add("load" + suffix, 2, place.name)
    emit_expression(code, value)
    if node.name != "=":
        code.add("calculate", 1, node.name[0])
    code.add("store" + suffix, 2, place.name)


def _emit_step(code: Code, node: Node) -> None:
    place = node.parts[0]
    for part in place.parts:
        emit_expression(code, part)
    suffix = " element" if place.kind == "element" else ""
    code.add(node.kind + suffix, 6 if suffix else 4, (place.name, 1 if node.name == "++" else -1))
