"""Layered inode tables against plain dictionaries."""

from __future__ import annotations

from hypothesis import given, strategies as st

from simcloud.machine.files.nodes import Fifo
from simcloud.machine.files.table import InodeTable

steps = st.lists(
    st.tuples(st.sampled_from(["add", "drop", "split", "rehome"]), st.integers(1, 20)), max_size=60
)


def node(ino: int) -> Fifo:
    made = Fifo(0o600)
    made.ino = ino
    return made


@given(steps, st.booleans())
def test_a_table_over_layers_holds_what_a_dictionary_would(steps: list[tuple[str, int]], stay: bool) -> None:
    table, model = InodeTable(), dict[int, Fifo]()
    left: list[tuple[InodeTable, dict[int, Fifo]]] = []
    for action, ino in steps:
        if action == "add":
            model[ino] = node(ino)
            table.add(model[ino])
        elif action == "drop":
            model.pop(ino, None)
            table.drop(ino)
        elif action == "rehome":
            table.rehome()
        else:
            other = table.split()
            left.append((other if stay else table, dict(model)))
            table = table if stay else other
    for each, expected in [*left, (table, model)]:
        assert {ino: each.get(ino) for ino in range(1, 21)} == {
            ino: expected.get(ino) for ino in range(1, 21)
        }


def test_what_comes_and_goes_leaves_nothing_in_the_layers() -> None:
    table = InodeTable()
    for ino in range(1, 500):
        table.add(node(ino))
        table = table.split()
        table.drop(ino)
        table = table.split()
    assert sum(len(layer) for layer in table._below) < 10


def test_only_nodes_of_the_present_state_are_at_home() -> None:
    table = InodeTable()
    mine = node(1)
    table.add(mine)
    assert mine.home is table.own
    table.split()
    assert mine.home is not table.own
    assert table.get(1) is mine
