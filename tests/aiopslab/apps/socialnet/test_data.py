"""The people of the network and what they have written."""

from __future__ import annotations

from hashlib import sha256

from aiopslab.apps.socialnet.data.databases import build_images_with_data
from aiopslab.apps.socialnet.data.people import EDGES, USERS, draw_neighbours
from aiopslab.apps.socialnet.data.posts import build_posts
from aiopslab.apps.socialnet.tokens import read_claims, sign


def test_as_many_people_and_edges_as_published_and_everybody_knows_somebody() -> None:
    known = draw_neighbours()
    assert len(known) == USERS == 962
    assert sum(map(len, known)) == 2 * EDGES == 2 * 18_812
    assert all(user in known[other] for user in range(USERS) for other in known[user])
    degrees = sorted(map(len, known))
    assert degrees[0] > 0
    assert degrees[-1] > 5 * degrees[USERS // 2]  # a few know many


def test_everybody_has_written_and_ids_are_unlike() -> None:
    found = build_posts()
    assert len({post["post_id"] for post in found}) == len(found)
    assert {int(post["creator"]["user_id"]) for post in found} == set(range(USERS))
    stamps = [post["timestamp"] for post in found]
    assert stamps == sorted(stamps)


def test_the_data_is_the_same_in_every_process() -> None:
    told = sha256(repr((draw_neighbours(), build_posts())).encode()).hexdigest()
    assert told == "bac5001983f754b20d232529d47ff3103d3f2b7014e582a3db706ffa36792983"
    assert build_images_with_data() is build_images_with_data()


def test_a_token_says_who_somebody_is_to_those_who_know_the_secret() -> None:
    token = sign({"user_id": "4"}, "secret")
    assert read_claims(token, "secret") == {"user_id": "4"}
    assert read_claims(token, "guess") is None
    assert read_claims(token[:-2], "secret") is None
    assert read_claims("é.a.b", "secret") is None
