"""The people of the network and what they have written."""

from __future__ import annotations

from hashlib import sha256

from aiopslab.apps.socialnet.data.databases import images_with_data
from aiopslab.apps.socialnet.data.people import EDGES, USERS, neighbours
from aiopslab.apps.socialnet.data.posts import posts
from aiopslab.apps.socialnet.tokens import claims_of, signed


def test_as_many_people_and_edges_as_published_and_everybody_knows_somebody() -> None:
    known = neighbours()
    assert len(known) == USERS == 962
    assert sum(map(len, known)) == 2 * EDGES == 2 * 18_812
    assert all(user in known[other] for user in range(USERS) for other in known[user])
    degrees = sorted(map(len, known))
    assert degrees[0] > 0
    assert degrees[-1] > 5 * degrees[USERS // 2]  # a few know many


def test_everybody_has_written_and_ids_are_unlike() -> None:
    found = posts()
    assert len({post["post_id"] for post in found}) == len(found)
    assert {int(post["creator"]["user_id"]) for post in found} == set(range(USERS))
    stamps = [post["timestamp"] for post in found]
    assert stamps == sorted(stamps)


def test_the_data_is_the_same_in_every_process() -> None:
    told = sha256(repr((neighbours(), posts())).encode()).hexdigest()
    assert told == "e85b5294e93d8aa0261715ac9618c5b22b4327fe6d27a0647abde931e4ccd33e"
    assert images_with_data() is images_with_data()


def test_a_token_says_who_somebody_is_to_those_who_know_the_secret() -> None:
    token = signed({"user_id": "4"}, "secret")
    assert claims_of(token, "secret") == {"user_id": "4"}
    assert claims_of(token, "guess") is None
    assert claims_of(token[:-2], "secret") is None
    assert claims_of("é.a.b", "secret") is None
