"""Regular expressions: leftmost-longest for POSIX, leftmost-first for Perl, bounded for everybody."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.patterns import (
    Dialect,
    Flavour,
    RegexError,
    TooMuchWorkError,
    compile_patterns,
    compile_regex,
    is_utf8_locale,
    meter_search,
)
from simcloud.patterns.backtracking import MAX_STEPS
from tests.genuine import Done, run

LINES = [
    b"", b"a", b"b", b"ab", b"aab", b"abab", b"abc ab", b"ba_b", b"cab aab b", b"a*b+c", b"a{2}b|c",
    b"aaabbbccc", b"a(b)c", b"b a", "éa bé".encode(), b"abcabc", b"cc",
]  # fmt: skip
GREP_OPTION = {"basic": "-G", "extended": "-E", "perl": "-P"}


def found(pattern: str, line: str, flavour: Flavour = "extended", *, ignore_case: bool = False) -> str | None:
    match = compile_regex(pattern.encode(), flavour, ignore_case=ignore_case).search(line.encode())
    return None if match is None else (match.group() or b"").decode()


def all_matches(pattern: str, flavour: Flavour) -> bytes:
    """Every match in every line, as ``grep -onb`` shows them."""
    regex = compile_patterns((pattern.encode(),), flavour)
    out: list[bytes] = []
    offset = 0
    for number, line in enumerate(LINES, 1):
        position = 0
        while position <= len(line) and (match := regex.search(line, position)) is not None:
            begin, end = match.span()
            if end > begin:
                out.append(b"%d:%d:%b\n" % (number, offset + begin, line[begin:end]))
            position = max(end, begin + 1)
        offset += len(line) + 1
    return b"".join(out)


# -- against the genuine grep ----------------------------------------------------------------------

ATOMS = ["a", "b", "c", "ab", ".", "[ab]", "[^a]", "[a-c]", "é", "_", " ", r"\w", r"\W", r"\s"]
REPEATS = {
    "extended": ["*", "+", "?", "{2}", "{0,2}", "{1,}"],
    "basic": ["*", r"\+", r"\?", r"\{2\}", r"\{0,2\}", r"\{1,\}"],
    "perl": ["*", "+", "?", "{2}", "{0,2}", "*?", "+?", "??", "*+", "++"],
}


@cache
def patterns(flavour: str) -> st.SearchStrategy[str]:
    """Patterns without anchors inside repetitions: there glibc's own answers contradict each other."""
    begin, end, bar = (r"\(", r"\)", r"\|") if flavour == "basic" else ("(", ")", "|")

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds(lambda a, b: a + b, inner, inner),
            st.builds(lambda a, b: f"{begin}{a}{bar}{b}{end}", inner, inner),
            st.builds(lambda a, r: f"{begin}{a}{end}{r}", inner, st.sampled_from(REPEATS[flavour])),
        )

    bodies = st.recursive(st.sampled_from(ATOMS), grow, max_leaves=8)
    return st.builds(
        lambda a, b, c: a + b + c, st.sampled_from(["", "", "^"]), bodies, st.sampled_from(["", "", "$"])
    )


def genuine_matches(flavour: str, expressions: list[str], folder: Path) -> list[bytes]:
    """What the genuine grep finds, for many patterns in one process."""
    script = "".join(
        f"printf '%s' {shell_quoted(expression)} > p; grep {GREP_OPTION[flavour]} -onb -f p lines; printf '\\0'\n"
        for expression in expressions
    )
    files = {"lines": b"\n".join(LINES) + b"\n"}
    return genuine(["sh", "-c", script], folder, files).stdout.split(b"\0")[:-1]


def genuine(argv: list[str], folder: Path | None = None, files: dict[str, bytes] | None = None) -> Done:
    return run(argv, files=files, env={"LC_ALL": "C.UTF-8"}, folder=folder)


def shell_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.mark.live("grep")
@pytest.mark.parametrize("flavour", ["extended", "basic", "perl"])
@settings(max_examples=10, deadline=None, derandomize=True)
@given(data=st.data())
def test_random_patterns_as_genuine(
    flavour: Flavour, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    expressions = data.draw(st.lists(patterns(flavour), min_size=20, max_size=20))
    expected = genuine_matches(flavour, expressions, tmp_path_factory.mktemp("regex"))
    for expression, matches in zip(expressions, expected, strict=True):
        assert all_matches(expression, flavour) == matches, expression


POSIX_MISTAKES = [
    "[", "[a", "[[:foo:]]", "[[:alpha]", "[:alpha:]", "[[.foo.]]", "[b-a]", "[a-[:digit:]]", "[]", "a\\", "(", ")",
    "\\(", "\\)", "a**", "*a", "+a", "?a", "{1}a", "a{1", "a\\{1", "a\\{1a\\}", "a{2,1}", "a{99999}", "a{}", "a{1,2,3}",
    "()", "a||b", "(|a)", "\\1", "(a)\\2", "\\(a\\)\\2", "(*a)", "(^*", "[a-c-e]", "\\{1\\}", "a\\{1", "x**", "(*)",
]  # fmt: skip
SED_READS_ON = ("[", "[a", "[]", "[[:alpha]", "a\\")
"""What sed does not take as a whole pattern: it looks for the closing bracket or the escaped character."""
PERL_MISTAKES = [
    "\\", "\\c", "\\i", "a{2,1}", "a{70000}", "[a", "[b-a]", "*a", "a**", "a+++", "(?", "(?z)", "[:alpha:]", "[[.a.]]",
    "(", ")", "(?<=a*)b", "[[:foo:]]", "\\x{110000}", "(?<n", "(?<n>a)(?<n>b)", "\\p{Foo}", "\\p", "(?<>a)", "\\2",
    "(a)\\2", "\\g{5}", "\\k<x>", "(?(1)a|b)", "(?P=x)", "[\\d-z]", "\\g", "\\k", "\\o", "\\x{", "(?i", "(?#a", "\\L",
    "\\b+", "^*", "(?i)+", "(?<1a>b)", "(?(1", "[\\R]", "a{,3}", "a{", "[]a]", "x{0}", "(?a)",
]  # fmt: skip


@pytest.mark.differential("grep")
@pytest.mark.parametrize("pattern", POSIX_MISTAKES)
@pytest.mark.parametrize("flavour", ["basic", "extended"])
def test_mistakes_as_in_genuine_grep(pattern: str, flavour: Flavour) -> None:
    done = genuine(["grep", GREP_OPTION[flavour], "-e", pattern])
    complaints = [line for line in done.stderr.decode().splitlines() if "warning" not in line]
    assert mistake(pattern, flavour, "grep") == "".join(complaints).removeprefix("grep: ")


@pytest.mark.differential("sed")
@pytest.mark.parametrize("pattern", [pattern for pattern in POSIX_MISTAKES if pattern not in SED_READS_ON])
@pytest.mark.parametrize("flavour", ["basic", "extended"])
def test_mistakes_as_in_genuine_sed(pattern: str, flavour: Flavour) -> None:
    done = genuine(["sed", "-E" if flavour == "extended" else "-s", f"s\1{pattern}\1\1"])
    complaint = done.stderr.decode().strip().removeprefix("sed: ")
    if complaint.startswith("-e expression"):
        complaint = complaint.partition(": ")[2]
    assert mistake(pattern, flavour, "sed") == complaint


@pytest.mark.differential("grep")
@pytest.mark.parametrize("pattern", PERL_MISTAKES)
def test_perl_mistakes_as_genuine(pattern: str) -> None:
    complaint = genuine(["grep", "-P", "-e", pattern]).stderr.decode().strip()
    assert mistake(pattern, "perl", "grep") == complaint.removeprefix("grep: ")


def mistake(pattern: str, flavour: Flavour, dialect: Dialect) -> str:
    try:
        compile_regex(pattern.encode(), flavour, dialect=dialect)
    except RegexError as error:
        return str(error)
    return ""


# -- on its own ------------------------------------------------------------------------------------


def test_posix_takes_the_longest_and_perl_the_first() -> None:
    assert found("a|ab|abc", "xabcd") == "abc"
    assert found("a|ab|abc", "xabcd", "perl") == "a"


def test_groups_that_took_no_part_are_none() -> None:
    match = compile_regex(b"(a)|(b)").search(b"b")
    assert match is not None
    assert (match.group(1), match.group(2), match.span(1), match.span(2)) == (None, b"b", (-1, -1), (0, 1))


def test_search_goes_on_from_a_place_without_losing_the_start() -> None:
    regex = compile_regex(b"^a|b")
    assert regex.search(b"ab", 1) is not None
    assert compile_regex(b"^b").search(b"ab", 1) is None


def test_basic_operators_need_a_backslash() -> None:
    assert found("a+b", "a+b aab", "basic") == "a+b"
    assert found(r"a\+b", "a+b aab", "basic") == "aab"
    assert found("*a", "b*a", "basic") == "*a"


def test_characters_are_bytes_in_the_c_locale() -> None:
    assert compile_regex(b"^.$", utf8=True).search("é".encode()) is not None
    assert compile_regex(b"^.$", utf8=False).search("é".encode()) is None


def test_bytes_that_are_no_text_match_nothing_but_themselves() -> None:
    assert compile_regex(b"a.b").search(b"a\xffb") is None
    assert compile_regex(b"a\xffb").search(b"a\xffb") is not None


def test_words_know_letters_beyond_ascii() -> None:
    assert found(r"\<é\w*\>", "a été b") == "été"
    assert found(r"\bt", "été") is None


def test_case_is_ignored_where_asked() -> None:
    assert found("straße|É", "é", ignore_case=True) == "é"
    assert found("[a-c]+", "xABCx", ignore_case=True) == "ABC"


def test_back_references_in_posix_still_take_the_longest() -> None:
    assert found(r"(a|aa)b\1", "aabaa") == "aabaa"
    assert found(r"\(.\)\1", "abccd", "basic") == "cc"


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        (r"(?<=id=)\d+", "id=42", "42"),
        (r"\w+(?= bar)", "foo bar", "foo"),
        (r"foo(?!bar)\w*", "foobar foobaz", "foobaz"),
        (r"(?<!a)b", "ab b", "b"),
        (r"key=\K\w+", "key=value", "value"),
        (r"(?>a+)b", "aaab", "aaab"),
        (r"a++a", "aaa", None),
        (r"(?i)FOO(?-i)bar", "foobar", "foobar"),
        (r"(?<year>\d{4})-\k<year>", "2024-2024", "2024-2024"),
        (r"(a)?(?(1)b|c)", "ab", "ab"),
        (r"(?|(a)|(b))\1", "bb", "bb"),
        (r"\Qa.b\E", "axb a.b", "a.b"),
        (r"(?x) a b # comment", "ab", "ab"),
        (r"\p{Lu}+", "abÉCd", "ÉC"),
        (r"a.*?b", "aabb", "aab"),
        (r"((a)*|b)*", "ab", "a"),
    ],
)
def test_perl_features(pattern: str, line: str, expected: str | None) -> None:
    assert found(pattern, line, "perl") == expected


def test_whole_words_and_lines() -> None:
    word = compile_patterns((b"foo",), "fixed", whole_word=True)
    assert word.search(b"foobar foo").span() == (7, 10)
    line = compile_patterns((b"a|ab",), "extended", whole_line=True)
    assert line.search(b"ab") is not None
    assert line.search(b"abc") is None


def test_catastrophic_patterns_end_at_the_same_step() -> None:
    regex = compile_regex(b"(a|aa)+(?=c)", "perl")
    counts = []
    for _ in range(2):
        before = regex.steps
        with pytest.raises(TooMuchWorkError):
            regex.search(b"a" * 60)
        counts.append(regex.steps - before)
    assert counts[0] == counts[1]
    assert counts[0] > MAX_STEPS


def test_backtracking_is_paid_for() -> None:
    spent: list[int] = []
    search = meter_search(compile_regex(rb"(a+)\1b(?=c)", "perl"), spent.append)
    assert search(b"a" * 400 + b"b", 0) is None
    assert sum(spent) > 0


def test_monstrous_patterns_are_refused() -> None:
    for pattern in (b"(a{900}){900}", b"(" * 500 + b")" * 500, b"a{32768}"):
        with pytest.raises(RegexError, match="Regular expression too big"):
            compile_regex(pattern)


@pytest.mark.parametrize(
    ("env", "utf8"),
    [
        ({}, False),
        ({"LANG": "C.UTF-8"}, True),
        ({"LC_ALL": "C", "LANG": "C.UTF-8"}, False),
        ({"LC_CTYPE": "x.utf8"}, True),
    ],
)
def test_locale(env: dict[str, str], utf8: bool) -> None:
    assert is_utf8_locale(env) is utf8


@settings(max_examples=400, deadline=None)
@given(
    pattern=st.text("ab()[]{}|*+?.^$\\,-:=019é<>!#PKQEwdbx'`\n\x00", max_size=14),
    flavour=st.sampled_from(["basic", "extended", "perl", "fixed"]),
    line=st.binary(max_size=30),
    utf8=st.booleans(),
    fold=st.booleans(),
)
def test_any_pattern_compiles_or_is_refused(
    pattern: str, flavour: Flavour, line: bytes, utf8: bool, fold: bool
) -> None:
    try:
        match = compile_regex(pattern.encode(), flavour, ignore_case=fold, utf8=utf8).search(line)
    except (RegexError, TooMuchWorkError):
        return
    if match is not None:
        begin, end = match.span()
        assert 0 <= begin <= end <= len(line)
