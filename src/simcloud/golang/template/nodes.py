"""The syntax tree of a Go template. ``str(node)`` is its source, as errors quote it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field


class TemplateError(Exception):
    """A template is invalid or does not fit its data; ``printed`` is the output before the error."""

    def __init__(self, message: str, printed: str = "") -> None:
        super().__init__(message)
        self.printed = printed


class Node(Struct):
    """A node at a position of the template's text."""

    place: int


class TextNode(Node):
    """Text to print."""

    text: str

    def __str__(self) -> str:
        return self.text


class ListNode(Node):
    """A sequence of nodes."""

    nodes: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return "".join(map(str, self.nodes))


class Constant(Node):
    """A number, a string, ``true`` or ``false``, as written."""

    value: Any
    text: str

    def __str__(self) -> str:
        return self.text


class NilNode(Node):
    """``nil``."""

    def __str__(self) -> str:
        return "nil"


class DotNode(Node):
    """The current value."""

    def __str__(self) -> str:
        return "."


class FieldNode(Node):
    """``.a.b`` of the current value."""

    names: list[str]

    def __str__(self) -> str:
        return "".join(f".{name}" for name in self.names)


class VariableNode(Node):
    """``$x.a.b``: the first name is the variable's."""

    names: list[str]

    def __str__(self) -> str:
        return ".".join(self.names)


class IdentifierNode(Node):
    """A function's name."""

    name: str

    def __str__(self) -> str:
        return self.name


class ChainNode(Node):
    """Fields of an expression in parentheses, or of a function's result."""

    inner: Node
    names: list[str]

    def __str__(self) -> str:
        inner = f"({self.inner})" if isinstance(self.inner, PipeNode) else str(self.inner)
        return inner + "".join(f".{name}" for name in self.names)


class CommandNode(Node):
    """A value, or a function and its arguments."""

    arguments: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return " ".join(f"({node})" if isinstance(node, PipeNode) else str(node) for node in self.arguments)


class PipeNode(Node):
    """Commands that pass on their values, and the variables for the last value."""

    declared: list[VariableNode] = field(default_factory=list)
    assigns: bool = False
    commands: list[CommandNode] = field(default_factory=list)

    def __str__(self) -> str:
        declared = ", ".join(map(str, self.declared))
        if declared:
            declared += " = " if self.assigns else " := "
        return declared + " | ".join(map(str, self.commands))


class ActionNode(Node):
    """A pipeline whose value is printed."""

    pipe: PipeNode

    def __str__(self) -> str:
        return "{{" + str(self.pipe) + "}}"


class BranchNode(Node):
    """``if``, ``with`` or ``range``."""

    word: str
    pipe: PipeNode
    body: ListNode
    otherwise: ListNode | None

    def __str__(self) -> str:
        otherwise = "{{else}}" + str(self.otherwise) if self.otherwise is not None else ""
        return "{{" + f"{self.word} {self.pipe}" + "}}" + f"{self.body}{otherwise}" + "{{end}}"


class TemplateNode(Node):
    """A call of a template by name."""

    name: str
    quoted: str
    pipe: PipeNode | None

    def __str__(self) -> str:
        return "{{template " + self.quoted + (f" {self.pipe}" if self.pipe else "") + "}}"


class WordNode(Node):
    """``{{end}}``, ``{{else}}``, ``{{break}}`` or ``{{continue}}``."""

    word: str

    def __str__(self) -> str:
        return "{{" + self.word + "}}"
