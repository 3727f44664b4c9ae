"""Replaces the operands of expressions.

The compiler uses this for expressions with operands that wait: the operands are evaluated one by one and stored, and
the expression then runs on the stored values without waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from simcloud.userland.awk import tree

Change = Callable[[tree.Expr], tree.Expr]

ARRAY_ARGUMENTS: Final[dict[str, tuple[int, ...]]] = {
    "split": (1,),
    "match": (2,),
    "asort": (0, 1),
    "asorti": (0, 1),
}
"""The positions of array arguments, by built-in function."""


def change_operands(node: tree.Expr, change: Change) -> tree.Expr:
    """The same expression with each of its operands changed, from left to right."""
    match node:
        case tree.Assign():
            value = change(node.value)  # before the subscripts of what it is assigned to
            return replace(node, target=change_target(node.target, change), value=value)
        case tree.Increment():
            return replace(node, target=change_target(node.target, change))
        case tree.Field() | tree.Index():
            return change_target(node, change)
        case tree.Compare() | tree.Concat() | tree.Binary():
            return replace(node, left=change(node.left), right=change(node.right))
        case tree.Match():
            left = change(node.left)
            right = node.right if isinstance(node.right, tree.Regex) else change(node.right)
            return replace(node, left=left, right=right)
        case tree.Not() | tree.Sign():
            return replace(node, operand=change(node.operand))
        case tree.Member():
            subscripts = tuple(map(change, node.subscripts))
            return replace(node, subscripts=subscripts, array=change_array(node.array, change))
        case tree.Call():
            return replace(node, arguments=tuple(_change_argument(item, change) for item in node.arguments))
        case tree.Builtin():
            return replace(node, arguments=_change_arguments(node, change))
        case tree.Getline():
            source = None if node.source is None else change(node.source)
            target = None if node.target is None else change_target(node.target, change)
            return replace(node, source=source, target=target)
    return node


def change_target(target: tree.Target, change: Change) -> tree.Target:
    """The same variable, field or element, with what it is found by changed."""
    if isinstance(target, tree.Field):
        return replace(target, index=change(target.index))
    return change_array(target, change)


def change_array(array: tree.Name | tree.Index, change: Change) -> tree.Name | tree.Index:
    """The same array or element, with its subscripts changed."""
    if isinstance(array, tree.Name):
        return array
    inner = change_array(array.array, change)
    return replace(array, array=inner, subscripts=tuple(map(change, array.subscripts)))


def _change_argument(argument: tree.Expr, change: Change) -> tree.Expr:
    """An argument of one of the program's functions: a name or an element may be an array."""
    return (
        change_array(argument, change) if isinstance(argument, tree.Name | tree.Index) else change(argument)
    )


def _change_arguments(node: tree.Builtin, change: Change) -> tuple[tree.Expr, ...]:
    arrays = ARRAY_ARGUMENTS.get(node.name, ())
    changed: list[tree.Expr] = []
    for position, argument in enumerate(node.arguments):
        substituted = node.name in ("sub", "gsub") and position == 2
        may_be_array = position in arrays or node.name == "length"
        if isinstance(argument, tree.Regex):
            changed.append(argument)
        elif isinstance(argument, tree.Name | tree.Index) and may_be_array:
            changed.append(change_array(argument, change))
        elif substituted and isinstance(argument, tree.Target):
            changed.append(change_target(argument, change))
        else:
            changed.append(change(argument))
    return tuple(changed)
