"""Benchmarks in the folder of the results and below it: their episodes, and the records that these lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiopslab.servers.http_api.errors import HttpError
from aiopslab.servers.http_api.stored import list_benchmarks, list_stored_episodes, read_stored_record
from tests.aiopslab.benchmark.stored import write_store

ENDED = '{"ending": "submitted", "steps": [], "problem_id": "known"}'


@pytest.mark.parametrize("place", ["bench/first", "."])
def test_episodes_lead_to_their_records(tmp_path: Path, place: str) -> None:
    write_store(tmp_path / place)
    (listed,) = list_benchmarks(tmp_path)
    everything = list_stored_episodes(tmp_path, listed["name"], "", "0")
    assert everything["total"] == len(everything["episodes"]) == listed["episodes"]
    found = list_stored_episodes(tmp_path, listed["name"], "good zero-detection", "1")
    assert found["total"] == 4 and len(found["episodes"]) == 3
    episode = found["episodes"][0]
    assert (episode["agent"], episode["problem"], episode["success"]) == ("good", "zero-detection-1", True)
    with pytest.raises(HttpError, match="no such record"):
        read_stored_record(tmp_path, episode["record"])
    (tmp_path / place / "sessions" / episode["record"].rpartition("/")[2]).write_text(ENDED)
    assert read_stored_record(tmp_path, episode["record"])["problem_id"] == "known"


@pytest.mark.parametrize("offset", ["-1", "x", "9" * 10, ""])
def test_an_offset_is_a_number(tmp_path: Path, offset: str) -> None:
    with pytest.raises(HttpError, match="such as 200"):
        list_stored_episodes(tmp_path, "bench", "", offset)


def test_only_folders_of_benchmarks_are_read(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    for file in ("secret.json", "sessions/secret.json"):
        (tmp_path / file).write_text(ENDED)
    results = tmp_path / "results"
    write_store(results / "bench")
    for name in ("../secret.json", "../sessions/secret.json", "bench/sessions/../../../secret.json"):
        with pytest.raises(HttpError, match="no such record"):
            read_stored_record(results, name)
