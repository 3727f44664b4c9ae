"""What is written is what is read: posts with pictures, addresses and mentions, seen by whom they concern.

All through the front door, as users do it.
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest

from aiopslab.apps.socialnet.data.people import draw_neighbours
from aiopslab.apps.socialnet.journeys import JOURNEYS
from aiopslab.apps.socialnet.web.scripts import parse_arguments
from tests.aiopslab.apps.socialnet.living import Living

COMPOSE = JOURNEYS[2]
SEEDS = range(8)
SHORT = re.compile(r"http://short-url/\w{10}")
LONG = re.compile(r"http://\w{64}")
MENTION = re.compile(r"@username_(\d+)")


@pytest.fixture(scope="module")
def living() -> Living:
    return Living(seed=9)


@pytest.fixture(scope="module")
def written(living: Living) -> list[dict[str, Any]]:
    """Several posts as users write them: what was sent, and what the writer then finds in the own timeline."""
    found = []
    for seed in SEEDS:
        request = COMPOSE.request(Random(seed))
        assert COMPOSE.accepts(living.sent(request))
        sent = parse_arguments(request, posted=True)
        found.append({"sent": sent, "post": build_posts(living, "user", int(sent["user_id"]))[0]})
    return found


def build_posts(living: Living, which: str, user: int, stop: int = 10) -> list[dict[str, Any]]:
    status, body = living.read(which, user, 0, stop)
    assert status == 200, body
    found: list[dict[str, Any]] = json.loads(body)
    return found


def test_a_writer_finds_the_post_as_it_was_meant(written: list[dict[str, Any]]) -> None:
    for each in written:
        sent, post = each["sent"], each["post"]
        assert post["creator"] == {"user_id": sent["user_id"], "username": sent["username"]}
        assert post["post_type"] == 0
        assert SHORT.sub("*", post["text"]) == LONG.sub("*", sent["text"])
        media = zip(json.loads(sent["media_ids"]), json.loads(sent["media_types"]), strict=True)
        assert post["media"] == [{"media_id": id, "media_type": kind} for id, kind in media]
        assert post["media"]


def test_every_address_got_a_short_one_of_its_own(written: list[dict[str, Any]]) -> None:
    shortened = []
    for each in written:
        urls = each["post"]["urls"]
        assert [url["expanded_url"] for url in urls] == LONG.findall(each["sent"]["text"])
        assert [url["shortened_url"] for url in urls] == SHORT.findall(each["post"]["text"])
        shortened += [url["shortened_url"] for url in urls]
    assert len(shortened) == len(set(shortened)) >= len(SEEDS)


def test_mentions_name_those_who_are_meant(written: list[dict[str, Any]]) -> None:
    for each in written:
        meant = sorted(set(MENTION.findall(each["sent"]["text"])))
        assert meant
        told = each["post"]["user_mentions"]
        assert sorted({one["user_id"] for one in told}) == meant
        assert all(one["username"] == f"username_{one['user_id']}" for one in told)


def test_every_follower_and_everyone_mentioned_finds_it_and_nobody_else(
    living: Living, written: list[dict[str, Any]]
) -> None:
    strangers = Random(1).sample(range(962), 40)
    for each in written[:4]:
        post = each["post"]
        writer = int(post["creator"]["user_id"])
        concerned = {*draw_neighbours()[writer], *(int(one["user_id"]) for one in post["user_mentions"])}
        for reader in sorted(concerned):
            assert post in build_posts(living, "home", reader), f"{reader} does not find it"
        for reader in strangers:
            if reader not in concerned:
                assert post not in build_posts(living, "home", reader), f"{reader} finds it"


def test_timelines_are_the_newest_first_and_the_same_from_the_databases(
    living: Living, written: list[dict[str, Any]]
) -> None:
    writers = [int(each["post"]["creator"]["user_id"]) for each in written]
    before = {
        (which, user): build_posts(living, which, user) for which in ("home", "user") for user in writers
    }
    for timeline in before.values():
        stamps = [int(post["timestamp"]) for post in timeline]
        assert stamps == sorted(stamps, reverse=True)
    for line in living.app.cooling:
        living.typed(line)
    assert {(which, user): build_posts(living, which, user) for which, user in before} == before


def test_a_new_follower_finds_what_is_written_from_then_on(living: Living) -> None:
    follower = next(user for user in range(962) if user not in (*draw_neighbours()[20], 20))
    form = {"user_name": f"username_{follower}", "followee_name": "username_20"}
    assert living.posted("/wrk2-api/user/follow", form)[0] == 200
    assert living.compose(20, "after you came")[0] == 200
    assert build_posts(living, "home", follower)[0]["text"] == "after you came"
