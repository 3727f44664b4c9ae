"""What people do in the network, how often, and what they are promised.

The mix is the published mixed one, and a composed post is drawn as there. Readers differ: there they begin anywhere in
the first hundred posts, and mostly find nothing; here most begin at the top, where there is always something.
"""

from __future__ import annotations

from random import Random
from typing import Final

from aiopslab.apps.base import Journey, Objective
from aiopslab.apps.socialnet.data.people import USERS, username
from aiopslab.apps.socialnet.web.scripts import UPLOADED, arguments_of
from simcloud.machine.network.http import HttpRequest, HttpResponse

HOST: Final = "social-network.example"
LETTERS: Final = "qwertyuiopasdfghjklzxcvbnmQWERTYUIOPASDFGHJKLZXCVBNM1234567890"
DIGITS: Final = "1234567890"
TEXT_LENGTH: Final = 256
URL_LENGTH: Final = 64
MEDIA_LENGTH: Final = 18
PAGE: Final = 10
FURTHER: Final = 0.3
"""How likely somebody who has read a page reads on."""


def _home(random: Random) -> HttpRequest:
    return _read("home", random.randrange(USERS), _start(random))


def _user(random: Random) -> HttpRequest:
    return _read("user", random.randrange(USERS), 0)


def _read(which: str, user: int, start: int) -> HttpRequest:
    path = f"/wrk2-api/{which}-timeline/read?user_id={user}&start={start}&stop={start + PAGE}"
    return HttpRequest("GET", path, {"Host": HOST})


def _start(random: Random) -> int:
    return PAGE if random.random() < FURTHER else 0


def _compose(random: Random) -> HttpRequest:
    user = random.randrange(USERS)
    text = _drawn(random, LETTERS, TEXT_LENGTH)
    for _ in range(random.randint(1, 6)):
        other = random.randrange(USERS - 1)
        text += f" @{username(other + (other >= user))}"
    for _ in range(random.randint(1, 6)):
        text += f" http://{_drawn(random, LETTERS, URL_LENGTH)}"
    media = [_drawn(random, DIGITS[:9], MEDIA_LENGTH) for _ in range(random.randint(1, 5))]
    ids, types = (",".join(f'"{one}"' for one in each) for each in (media, ["png"] * len(media)))
    body = f"username={username(user)}&user_id={user}&text={text}&media_ids=[{ids}]&media_types=[{types}]&post_type=0"
    headers = {"Host": HOST, "Content-Type": "application/x-www-form-urlencoded"}
    return HttpRequest("POST", "/wrk2-api/post/compose", headers, body.encode())


def _drawn(random: Random, letters: str, length: int) -> str:
    return "".join(random.choices(letters, k=length))


def _some_posts(response: HttpResponse) -> bool:
    return response.status == 200 and response.body.startswith(b'[{"post_id":')


def _posts(response: HttpResponse) -> bool:
    """Who reads on may find that there is no more."""
    return _some_posts(response) or (response.status == 200 and response.body == b"{}\n")


def _uploaded(response: HttpResponse) -> bool:
    return response.status == 200 and response.body == UPLOADED


def _post_written(request: HttpRequest, _response: HttpResponse) -> tuple[str, ...]:
    """A post by its writer and what its text begins with, as the application's audit prints it."""
    arguments = arguments_of(request, posted=True)
    return (f"{arguments['user_id']}/{arguments['text'][:32]}",)


JOURNEYS: Final = (
    Journey("home-timeline", 0.60, _home, _posts),
    Journey("user-timeline", 0.30, _user, _some_posts),
    Journey("compose", 0.10, _compose, _uploaded, _post_written),
)

OBJECTIVES: Final = (
    Objective("home-timeline", success=0.999, p99_s=0.050),
    Objective("user-timeline", success=0.999, p99_s=0.050),
    Objective("compose", success=0.999, p99_s=0.100),
)
