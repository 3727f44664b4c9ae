"""Strings of all sorts as YAML, against the genuine kubectl's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from simcloud.kubectl.errors import PrintError
from simcloud.kubectl.printing.kyaml_form import as_kyaml
from simcloud.kubectl.printing.yaml_form import as_yaml
from tests.simcloud.kubectl.canned import genuine

TRICKY = [
    "", "y", "Yes", "yEs", "no", "on", "OFF", "true", "null", "~", ".nan", "-.inf", "0", "007", "08", "0x1F", "0xg",
    "0b11", "0o17", "1_000", "_1", "1e3", "1e400", "1.", ".5", "-", "--", "+", "1:30", "1:99", "190:20:30.15",
    "2027-01-05", "2027-1-5", "2027-02-30", "2024-02-29", "2027-01-05T10:00:00Z", "2027-01-05 10:00:00",
    "2027-01-05T10:00:00+02:00", "2027-01-05T25:00:00Z", "99999999999999999999", "=", "<<", " a", "a ", "a: b", "a:b",
    "a #b", "#a", "a\n", "a\n\n", "\n", "\na", " a\nb", "a \nb", "a\n b", "a\tb", "x: |\n  y\n", "- a", "-a", "? a",
    ": a", "!a", "&a", "*a", "%a", "@a", "`a", "'a'", '"a"', "it's", "[a]", "{a}", "a,b", "|", "> x", "...", "---",
    "--- a", "é", "世界", "🎉 party", "a\u00a0b", "a\rb", "a\\b", "\u001b[0m", "\x00", "word " * 40, "'q' " + "word " * 40,
    "a: " + "word " * 40, "\t" + "word " * 40, "x  y " * 40, "long" * 30 + " tail words", '{"a":"b"}', "10.0.0.1", "1Gi",
]  # fmt: skip
PIECES = [
    "a", "Bar", " ", "  ", "\n", "\t", ":", ": ", " #", "-", "- ", "?", "!", "&", "*", "%", "@", "'", '"', "[", "}",
    ",", "|", ">", "0", "1", "10", "0x1F", "1e3", ".5", "_", "yes", "true", "2027-01-05", "12:30", "é", "🎉", "\\",
    "longwordlongword", "some words that go on for a while ",
]  # fmt: skip


def _strings() -> list[str]:
    draw = random.Random(7)
    made = ["".join(draw.choices(PIECES, k=draw.choice([1, 2, 3, 4, 8, 20]))) for _ in range(1500)]
    return list(dict.fromkeys(TRICKY + made))


def _widget(name: str, spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": metadata, "spec": spec}


WIDGETS = [
    _widget("values", {f"k{place}": text for place, text in enumerate(_strings())}),
    _widget(
        "items", {"list": _strings(), "deep": [{"a": {"b": [text, [text]]}} for text in _strings()[:300]]}
    ),
    # Keys that begin with digits have no order of their own: the library's contradicts itself.
    _widget("keys", dict.fromkeys((text for text in TRICKY if not text[:1].isdigit()), 1)),
    _widget(
        "numbers", [1.5, 3.0, 12345678901234567890, 2**64, 1e30, 1e-7, 1e6, -2.25, 123456789.5, True, None]
    ),
    _widget(
        "empty", {"a": [[], {}, [[], [[1, 2], [3]]]], "b": {}, "c": [{"d": []}, {"e": {}}], "k10": 1, "k9": 2}
    ),
]


@pytest.mark.differential("kubectl")
@pytest.mark.parametrize("form", ["yaml", "kyaml"])
def test_strings_of_all_sorts(tmp_path: Path, form: str) -> None:
    write = as_yaml if form == "yaml" else as_kyaml
    with genuine(tmp_path, {"widgets.example.com": WIDGETS}) as client:
        for widget in WIDGETS:
            printed = client.run(["get", "widgets", widget["metadata"]["name"], "-o", form])
            assert write(widget).splitlines() == printed.stdout.splitlines(), widget["metadata"]["name"]


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_anything_is_written_or_refused(value: Any) -> None:
    try:
        text = as_yaml({"value": value})
    except PrintError as error:
        assert "control characters" in str(error)
        return
    assert isinstance(text, str) and text.endswith("\n")


def test_a_written_list_reads_back_the_same() -> None:
    texts = [text for text in TRICKY if not text.startswith("2027-") and text not in ("=", "<<")]
    assert yaml.safe_load(as_yaml({"list": texts})) == {"list": texts}


def test_control_characters_are_refused() -> None:
    with pytest.raises(PrintError, match="yaml: control characters are not allowed"):
        as_yaml({"a": "\x7f"})
