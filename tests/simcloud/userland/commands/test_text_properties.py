"""For any input, sort, uniq, cut, tr, diff and others do what the genuine tools do."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.simcloud.userland.commands.text_harness import Case, genuine, ours

ALPHABET = "ab B1 9.-\t:,~é"

words = st.text(st.sampled_from(ALPHABET), max_size=8)
lines = st.lists(words, max_size=12)
letters = st.text(st.sampled_from("abcxyzABC019 -\\n[]:"), min_size=1, max_size=6)


def content(drawn: list[str], ended: bool = True) -> bytes:
    return "\n".join(drawn).encode() + (b"\n" if drawn and ended else b"")


def check(*cases: tuple[list[str], bytes], files: dict[str, bytes] | None = None) -> None:
    """Each command line with its input, against the genuine tool."""
    folder = Path(tempfile.mkdtemp())
    try:
        for argv, stdin in cases:
            case = Case(" ".join(argv), argv, stdin)
            assert ours(case, files or {}) == genuine(case, folder, files or {}), (argv, stdin, files)
    finally:
        shutil.rmtree(folder)


def subsets(*choices: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(choices), max_size=3)


sort_keys = st.sampled_from(
    [
        "-k1",
        "-k2",
        "-k2,2",
        "-k1.2",
        "-k1.2,1.3",
        "-k2n",
        "-k2,2r",
        "-k1b,1",
        "-k2.2b,2.3bf",
        "-k2h",
        "-k2V",
        "-k1M",
    ]
)


@pytest.mark.live("coreutils")
@settings(max_examples=120)
@given(
    lines,
    st.lists(
        st.sampled_from(
            ["-r", "-u", "-s", "-f", "-b", "-n", "-g", "-h", "-V", "-M", "-d", "-i", "-t:", "-c", "-z"]
        ),
        max_size=3,
    ),
    st.lists(sort_keys, max_size=2),
    st.booleans(),
)
def test_sort(drawn: list[str], options: list[str], keys: list[str], ended: bool) -> None:
    check((["sort", *options, *keys], content(drawn, ended)))


@pytest.mark.live("coreutils")
@settings(max_examples=40)
@given(lines, lines, subsets("-r", "-n", "-u", "-k2", "-s", "-f"))
def test_sort_merges(one: list[str], two: list[str], options: list[str]) -> None:
    check((["sort", "-m", *options, "one", "two"], b""), files={"one": content(one), "two": content(two)})


@pytest.mark.live("coreutils")
@settings(max_examples=80)
@given(
    st.lists(st.sampled_from(["a", "A", "a b", "a  b", "b", "", "ab", "a c"]), max_size=12),
    st.lists(
        st.sampled_from(["-c", "-d", "-u", "-D", "-i", "-f1", "-s1", "-w1", "-w2", "-z", "--group"]),
        max_size=3,
    ),
    st.booleans(),
)
def test_uniq(drawn: list[str], options: list[str], ended: bool) -> None:
    check((["uniq", *options], content(drawn, ended)))


ranges = st.lists(
    st.sampled_from(["1", "2", "3-", "-2", "2-4", "1,3", "5", "2-3", "4-"]), min_size=1, max_size=3
)


@pytest.mark.live("coreutils")
@settings(max_examples=80)
@given(
    lines,
    st.sampled_from(["-f", "-c", "-b"]),
    ranges,
    subsets("-s", "--complement", "-d:", "-d ", "--output-delimiter=<>", "-z"),
    st.booleans(),
)
def test_cut(drawn: list[str], kind: str, chosen: list[str], options: list[str], ended: bool) -> None:
    check((["cut", kind + ",".join(chosen), *options], content(drawn, ended)))


@pytest.mark.live("coreutils")
@settings(max_examples=120)
@given(
    words,
    subsets("-d", "-s", "-c", "-t", "-ds", "-cs"),
    st.lists(
        letters
        | st.sampled_from(["a-z", "[:lower:]", "[:upper:]", "[:digit:]", "[x*]", "[y*2]z", "\\t", "[=a=]"]),
        min_size=1,
        max_size=2,
    ),
)
def test_tr(text: str, options: list[str], sets: list[str]) -> None:
    check((["tr", *options, "--", *sets], text.encode()))


diff_lines = st.lists(st.sampled_from(["a", "b", "c", "d", "", "x y", " x  y", "A"]), max_size=30)


@pytest.mark.live("diffutils")
@settings(max_examples=150)
@given(
    diff_lines,
    diff_lines,
    st.sampled_from(["", "-u", "-U0", "-U1", "-c", "-C1", "-q"]),
    subsets("-i", "-w", "-b", "-B", "-Z", "-d"),
    st.booleans(),
    st.booleans(),
)
def test_diff(
    one: list[str], two: list[str], style: str, options: list[str], ended_one: bool, ended_two: bool
) -> None:
    files = {"one": content(one, ended_one), "two": content(two, ended_two)}
    argv = ["diff", *filter(None, [style]), *options, "one", "two"]
    check((argv, b""), files=files)


@pytest.mark.live("diffutils")
@settings(max_examples=60)
@given(st.data())
def test_diff_after_edits(data: st.DataObject) -> None:
    """Long files that share most of their lines, where the choice of hunks is a matter of taste."""
    size = data.draw(st.integers(20, 300))
    kinds = data.draw(st.sampled_from([3, 10, 100]))
    base = [str(number * 7919 % kinds) for number in range(size)]
    changed = list(base)
    for place in data.draw(st.lists(st.integers(0, size), max_size=20)):
        if place < len(changed) and place % 2:
            del changed[place]
        else:
            changed.insert(place, str(place % kinds))
    check((["diff", "-u", "one", "two"], b""), files={"one": content(base), "two": content(changed)})


@pytest.mark.live("coreutils")
@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(["a", "b", "c", "d"]).flatmap(lambda key: words.map(lambda rest: f"{key} {rest}")),
        max_size=8,
    ),
    st.lists(
        st.sampled_from(["a", "b", "c", "e"]).flatmap(lambda key: words.map(lambda rest: f"{key} {rest}")),
        max_size=8,
    ),
    st.booleans(),
)
def test_comm(one: list[str], two: list[str], ordered: bool) -> None:
    def encoded(drawn: list[str]) -> bytes:
        rows = [row.encode() for row in drawn]
        return b"".join(row + b"\n" for row in (sorted(rows) if ordered else rows))

    files = {"one": encoded(one), "two": encoded(two)}
    check((["comm", "one", "two"], b""), files=files)


@pytest.mark.live("coreutils")
@settings(max_examples=60)
@given(
    st.lists(st.text(st.sampled_from("abc .\t()!'"), max_size=30), max_size=8),
    st.integers(1, 12),
)
def test_widths(drawn: list[str], width: int) -> None:
    data = content(drawn)
    check(
        (["fold", f"-w{width}"], data),
        (["fold", "-s", f"-w{width}"], data),
        (["wc", "-lwcL"], data),
        (["cat", "-AsnT"], data),
    )


@pytest.mark.live("coreutils")
@settings(max_examples=60)
@given(st.binary(max_size=200), st.integers(1, 40))
def test_bytes_survive(data: bytes, width: int) -> None:
    check(
        (["base64", f"-w{width}"], data),
        (["base64", "-d"], data),
        (["tac"], data),
        (["head", f"-c-{width}"], data),
        (["tail", f"-c{width}"], data),
    )


small = st.integers(-20, 20).map(str) | st.sampled_from(["0.5", "-1.25", ".1", "3.0", "1e1"])


@pytest.mark.live("coreutils")
@settings(max_examples=60)
@given(small, small, small, subsets("-w", "-s,"))
def test_seq(first: str, step: str, last: str, options: list[str]) -> None:
    check((["seq", *options, "--", first, step, last], b""))
