"""Inode tables in layers: a table over frozen ones below it, so that copying a volume costs nothing.

``own`` holds what was made or altered here; the layers below are shared with other tables and never
change again. A number deleted here but present below maps to None. Layers at least double in
size towards the bottom: a new one that would not is merged with its neighbour, so a chain of n
copies is searched in about log n steps, and no entry is merged more often than that.
"""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.machine.files.nodes import Node

Layer = dict[int, Node | None]


class InodeTable:
    """Inode numbers and their nodes."""

    __slots__ = ("_below", "own")

    def __init__(self, below: tuple[Layer, ...] = ()) -> None:
        self.own: Layer = {}
        self._below = below

    def get(self, ino: int) -> Node | None:
        """The node of that number, if there is one."""
        own = self.own
        if ino in own:
            return own[ino]
        for layer in self._below:
            if ino in layer:
                return layer[ino]
        return None

    def add(self, node: Node) -> None:
        """Make a node part of this table; from now on it may be altered here."""
        node.home = self.own
        self.own[node.ino] = node

    def drop(self, ino: int) -> None:
        """Delete a number."""
        if any(ino in layer for layer in self._below):
            self.own[ino] = None
        else:
            self.own.pop(ino, None)

    def own_nodes(self) -> Iterator[Node]:
        """The nodes made or altered here."""
        return (node for node in self.own.values() if node is not None)

    def rehome(self) -> None:
        """Make everybody who remembers a node of this table look it up again."""
        self.own = dict(self.own)
        for node in self.own_nodes():
            node.home = self.own

    def split(self) -> InodeTable:
        """Freeze what is here and return a second table over it; both go their own ways from now on."""
        if self.own:
            self._below = add_layer(self.own, self._below)
            self.own = {}
        return InodeTable(self._below)


def add_layer(top: Layer, below: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """The layers with one more on top, merged where a layer is not twice as large as the one above."""
    while below and len(below[0]) < 2 * len(top):
        top = {**below[0], **top}
        below = below[1:]
    if not below:
        top = {ino: node for ino, node in top.items() if node is not None}
    return (top, *below)
