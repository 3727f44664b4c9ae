"""Glob patterns: compared with the real bash, and with themselves."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.userland.bash.patterns import compile_pattern, escape, is_active, unescape

TEXTS = st.text(alphabet="ab.-[]!*?x", max_size=8)
SIMPLE = r"a b x . - * ? [ab] [!a] [a-x] []a] [^.] [[:alpha:]] [ ] \* \a **"
GROUPS = "@(a|b) ?(a) *(a|b*) +(ab|x) !(a) !(*b) @(a|!(b)) *(?|x)"
PIECES = SIMPLE.split()
PATTERNS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
EXTENDED = st.lists(st.sampled_from([*PIECES, *GROUPS.split()]), max_size=4).map("".join)


def real_matches(pairs: list[tuple[str, str]]) -> list[bool]:
    """What ``[[ text == pattern ]]`` says in the real bash, for many pairs at once."""
    script = 'while IFS= read -r -d "" t && IFS= read -r -d "" p; do [[ $t == $p ]] && echo 1 || echo 0; done'
    data = "".join(f"{text}\0{pattern}\0" for text, pattern in pairs)
    done = subprocess.run(
        ["bash", "-c", script],
        input=data.encode(),
        capture_output=True,
        check=True,
        env={"LC_ALL": "C", "PATH": "/bin"},
    )
    return [line == b"1" for line in done.stdout.split()]


@pytest.mark.live("bash")
@settings(max_examples=40)
@given(st.lists(st.tuples(TEXTS, st.one_of(PATTERNS, EXTENDED)), min_size=1, max_size=60))
def test_matches_as_in_bash(pairs: list[tuple[str, str]]) -> None:
    ours = [compile_pattern(pattern, extglob=True).matches(text) for text, pattern in pairs]
    assert ours == real_matches(pairs)


def real_cuts(pairs: list[tuple[str, str]]) -> list[str]:
    """What the four cutting operators and a replacement leave, in the real bash."""
    script = (
        'shopt -s extglob\nwhile IFS= read -r -d "" t && IFS= read -r -d "" p; do '
        'printf \'%s\\n\' "${t#$p}" "${t##$p}" "${t%$p}" "${t%%$p}"; done'
    )
    data = "".join(f"{text}\0{pattern}\0" for text, pattern in pairs)
    done = subprocess.run(
        ["bash", "-c", script],
        input=data.encode(),
        capture_output=True,
        check=True,
        env={"LC_ALL": "C", "PATH": "/bin"},
    )
    return done.stdout.decode().split("\n")[:-1]


@pytest.mark.live("bash")
@settings(max_examples=40)
@given(st.lists(st.tuples(TEXTS, st.one_of(PATTERNS, EXTENDED)), min_size=1, max_size=40))
def test_cuts_as_in_bash(pairs: list[tuple[str, str]]) -> None:
    ours: list[str] = []
    for text, pattern in pairs:
        compiled = compile_pattern(pattern, extglob=True)
        for longest in (False, True):
            size = compiled.prefix(text, longest)
            ours.append(text if size is None else text[size:])
        for longest in (False, True):
            size = compiled.suffix(text, longest)
            ours.append(text if size is None else text[: len(text) - size])
    assert ours == real_cuts(pairs)


@given(st.text())
def test_an_escaped_text_matches_itself_alone(text: str) -> None:
    pattern = escape(text)
    assert not is_active(pattern, extglob=True)
    assert unescape(pattern) == text
    assert compile_pattern(pattern).matches(text)
    assert not compile_pattern(pattern).matches(text + "a")


@given(PATTERNS, TEXTS)
def test_an_extended_pattern_agrees_with_the_plain_one(pattern: str, text: str) -> None:
    assert compile_pattern(f"@({pattern})", extglob=True).matches(text) == compile_pattern(pattern).matches(
        text
    )
