"""The store: what goes in comes out, and what is no store is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiopslab.benchmark.episodes import EpisodeKey
from aiopslab.benchmark.store import Run, Store, StoreError
from tests.aiopslab.benchmark.fake import make_episode

KEY = EpisodeKey("a", "problem", 7, 0)


def test_an_episode_comes_back_as_it_was(tmp_path: Path) -> None:
    episode = make_episode(
        KEY, None, why="the agent fell over", results={"success": None, "steps": 3}, cost_usd=0.5
    )
    with Store.create(tmp_path, Run("run", {"max_steps": 5}, {"seeds": [7]})) as store:
        assert store.add(episode)
    with Store.open(tmp_path) as store:
        assert store.run == Run("run", {"max_steps": 5}, {"seeds": [7]})
        assert store.list_episodes() == [episode]


def test_an_episode_is_stored_once_and_can_be_removed_to_run_again(tmp_path: Path) -> None:
    with Store.create(tmp_path, Run("run", {}, {})) as store:
        assert [store.add(make_episode(KEY)), store.add(make_episode(KEY, False))] == [True, False]
        store.remove(KEY)
        assert store.add(make_episode(KEY, False))
        assert [episode.success for episode in store.list_episodes()] == [False]


def test_a_second_store_in_a_folder_is_refused(tmp_path: Path) -> None:
    Store.create(tmp_path, Run("run", {}, {})).close()
    with pytest.raises(StoreError, match="--resume"):
        Store.create(tmp_path, Run("run", {}, {}))


def test_a_folder_with_sessions_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "mine.json").write_text("{}")
    with pytest.raises(StoreError, match="something else"):
        Store.create(tmp_path, Run("run", {}, {}))
    assert (tmp_path / "sessions" / "mine.json").exists()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no benchmark"):
        Store.open(tmp_path)
    (tmp_path / "benchmark.sqlite").write_text(
        "this is no database, but long enough to be taken for one" * 20
    )
    with pytest.raises(StoreError, match="is no store"):
        Store.open(tmp_path)


def test_files_of_sessions_that_are_not_stored_are_removed(tmp_path: Path) -> None:
    with Store.create(tmp_path, Run("run", {}, {})) as store:
        for name in ("kept.json", "lost.json", "unfinished-1.jsonl", ".lost.json.12.part"):
            (tmp_path / "sessions" / name).write_text("{}")
        store.add(make_episode(KEY, record="sessions/kept.json"))
        store.remove_strays()
    assert [path.name for path in (tmp_path / "sessions").iterdir()] == ["kept.json"]
