"""The journeys of SocialNetwork's users, their frequencies and their objectives.

The mix is the published mixed load, and posts are drawn as there. Readers differ: there they start anywhere in
the first hundred posts and mostly find nothing; here most start at the first post, so there is always a result.
"""

from __future__ import annotations

from random import Random
from typing import Final

from aiopslab.apps.base import Journey, Objective
from aiopslab.apps.socialnet.data.people import USERS, make_username
from aiopslab.apps.socialnet.web.scripts import UPLOADED, parse_arguments
from simcloud.machine.network import HttpRequest, HttpResponse

HOST: Final = "social-network.example"
LETTERS: Final = "qwertyuiopasdfghjklzxcvbnmQWERTYUIOPASDFGHJKLZXCVBNM1234567890"
DIGITS: Final = "1234567890"
TEXT_LENGTH: Final = 256
URL_LENGTH: Final = 64
MEDIA_LENGTH: Final = 18
PAGE: Final = 10
SECOND_PAGE: Final = 0.3
"""Probability that a reader reads the second page instead of the first."""


def _make_home_read(random: Random) -> HttpRequest:
    return _build_read("home", random.randrange(USERS), _draw_start(random))


def _make_user_read(random: Random) -> HttpRequest:
    return _build_read("user", random.randrange(USERS), 0)


def _build_read(which: str, user: int, start: int) -> HttpRequest:
    path = f"/wrk2-api/{which}-timeline/read?user_id={user}&start={start}&stop={start + PAGE}"
    return HttpRequest("GET", path, {"Host": HOST})


def _draw_start(random: Random) -> int:
    return PAGE if random.random() < SECOND_PAGE else 0


def _make_post(random: Random) -> HttpRequest:
    user = random.randrange(USERS)
    text = _draw_text(random, LETTERS, TEXT_LENGTH)
    for _ in range(random.randint(1, 6)):
        other = random.randrange(USERS - 1)
        text += f" @{make_username(other + (other >= user))}"
    for _ in range(random.randint(1, 6)):
        text += f" http://{_draw_text(random, LETTERS, URL_LENGTH)}"
    media = [_draw_text(random, DIGITS[:9], MEDIA_LENGTH) for _ in range(random.randint(1, 5))]
    ids, types = (",".join(f'"{value}"' for value in values) for values in (media, ["png"] * len(media)))
    body = f"username={make_username(user)}&user_id={user}&text={text}&media_ids=[{ids}]&media_types=[{types}]&post_type=0"
    headers = {"Host": HOST, "Content-Type": "application/x-www-form-urlencoded"}
    return HttpRequest("POST", "/wrk2-api/post/compose", headers, body.encode())


def _draw_text(random: Random, letters: str, length: int) -> str:
    return "".join(random.choices(letters, k=length))


def _has_posts(response: HttpResponse) -> bool:
    return response.status == 200 and response.body.startswith(b'[{"post_id":')


def _is_timeline(response: HttpResponse) -> bool:
    """Return whether the answer has posts, or is empty, which is correct for a second page."""
    return _has_posts(response) or (response.status == 200 and response.body == b"{}\n")


def _is_uploaded(response: HttpResponse) -> bool:
    return response.status == 200 and response.body == UPLOADED


def _list_written_posts(request: HttpRequest, _response: HttpResponse) -> tuple[str, ...]:
    """Return the post's author and the start of its text, as the application's audit prints them."""
    arguments = parse_arguments(request, posted=True)
    return (f"{arguments['user_id']}/{arguments['text'][:32]}",)


JOURNEYS: Final = (
    Journey("home-timeline", 0.60, _make_home_read, _is_timeline),
    Journey("user-timeline", 0.30, _make_user_read, _has_posts),
    Journey("compose", 0.10, _make_post, _is_uploaded, _list_written_posts),
)

OBJECTIVES: Final = (
    Objective("home-timeline", success=0.999, p99_s=0.050),
    Objective("user-timeline", success=0.999, p99_s=0.050),
    Objective("compose", success=0.999, p99_s=0.100),
)
