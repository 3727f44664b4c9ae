"""wget against a simulated server, in the words of GNU Wget 1.21."""

from __future__ import annotations

import re

import pytest

from simcloud.machine.network.http import HttpRequest, HttpResponse, respond
from tests.simcloud.userland.commands.two_machines import TwoMachines, website


@pytest.fixture
def world() -> TwoMachines:
    world = TwoMachines()
    world.serve(website)
    return world


def told(world: TwoMachines, line: str) -> tuple[int, str]:
    """The status and the messages, without times and speeds."""
    done = world.type(line)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", done.stderr.decode())
    text = re.sub(r"\([\d.]+ [KMG]?B/s\)", "(SPEED)", text)
    return done.status, re.sub(r"100% +\S+$", "100%", text, flags=re.MULTILINE)


def test_it_saves_under_the_last_part_of_the_path(world: TwoMachines) -> None:
    assert told(world, "wget http://web/hello") == (
        0,
        "--TIME--  http://web/hello\nResolving web (web)... 10.0.0.2\n"
        "Connecting to web (web)|10.0.0.2|:80... connected.\nHTTP request sent, awaiting response... 200 OK\n"
        "Length: 6 [text/plain]\nSaving to: 'hello'\n\n"
        "     0K                                                        100%\n\n"
        "TIME (SPEED) - 'hello' saved [6/6]\n\n",
    )
    assert world.text("cat hello; wget -q http://web/hello; ls; wget -q http://web; cat index.html") == (
        "hello\nhello\nhello.1\nindex\n"
    )


def test_other_places_to_save(world: TwoMachines) -> None:
    assert world.text("wget -qO- http://web/hello") == "hello\n"
    assert world.text("wget -qO out http://web/hello; cat out") == "hello\n"
    assert world.text("wget -q -P d/e http://web/hello; cat d/e/hello") == "hello\n"
    assert told(world, "wget -O /nope/x http://web/hello") == (1, "/nope/x: No such file or directory\n")
    assert told(world, "wget -qO x http://web/hello; wget -nc http://web/x") == (
        0,
        "File 'x' already there; not retrieving.\n\n",
    )
    assert told(world, "wget -nv http://web/hello") == (0, 'TIME URL:http://web/hello [6/6] -> "hello" [1]\n')


def test_errors_of_the_server(world: TwoMachines) -> None:
    status, text = told(world, "wget http://web/missing")
    assert (status, text.splitlines()[-2:]) == (8, ["TIME ERROR 404: Not Found.", ""])
    assert told(world, "wget -q http://web/missing") == (8, "")
    assert told(world, "wget -nv http://web/missing") == (
        8,
        "http://web/missing:\nTIME ERROR 404: Not Found.\n",
    )


def test_redirects_are_followed(world: TwoMachines) -> None:
    text = told(world, "wget -O x http://web/moved")[1]
    assert "302 Found\nLocation: /hello [following]\n--TIME--  http://web/hello\n" in text
    assert world.text("cat x") == "hello\n"


def test_spider_only_looks(world: TwoMachines) -> None:
    status, text = told(world, "wget --spider http://web/hello")
    assert status == 0
    assert text.startswith("Spider mode enabled. Check if remote file exists.\n")
    assert text.endswith("200 OK\nLength: 6 [text/plain]\nRemote file exists.\n\n")
    status, text = told(world, "wget --spider http://web/missing")
    assert (status, text.splitlines()[-2]) == (8, "Remote file does not exist -- broken link!!!")


def test_network_failures(world: TwoMachines) -> None:
    assert told(world, "wget http://nosuch/") == (
        4,
        "--TIME--  http://nosuch/\nResolving nosuch (nosuch)... failed: Name or service not known.\n"
        "wget: unable to resolve host address 'nosuch'\n",
    )
    assert told(world, "wget http://10.0.0.2:81/") == (
        4,
        "--TIME--  http://10.0.0.2:81/\nConnecting to 10.0.0.2:81... failed: Connection refused.\n",
    )
    world.partition()
    assert told(world, "wget -T 1 -t 2 http://10.0.0.2/") == (
        4,
        "--TIME--  http://10.0.0.2/\nConnecting to 10.0.0.2:80... failed: Connection timed out.\nRetrying.\n\n"
        "--TIME--  (try: 2)  http://10.0.0.2/\nConnecting to 10.0.0.2:80... failed: Connection timed out.\n"
        "Giving up.\n\n",
    )


def test_a_slow_answer() -> None:
    world = TwoMachines()

    async def slow(request: HttpRequest) -> HttpResponse:
        await world.kernel.sleep(50)
        return respond(200, "late\n")

    world.serve(slow)
    status, text = told(world, "wget -T 1 -t 1 http://10.0.0.2/")
    assert status == 4
    assert text.endswith("awaiting response... Read error (Connection timed out) in headers.\nGiving up.\n\n")


def test_requests_carry_what_they_are_told_to(world: TwoMachines) -> None:
    assert world.text("wget -qO- --header='X-A: 1' --post-data=a=1 http://web/echo") == (
        "POST /echo\nHost: web\nUser-Agent: Wget/1.21.3\nAccept: */*\nAccept-Encoding: identity\n"
        "Connection: Keep-Alive\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 3\nX-A: 1\n\na=1"
    )
    assert world.text("wget -qO- --method=PUT --body-data=zz http://web/echo").startswith("PUT /echo\n")
    assert "  HTTP/1.1 200 OK\n  Content-Type: text/plain\n" in told(world, "wget -S -O- http://web/hello")[1]


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        (
            "wget",
            1,
            "wget: missing URL\nUsage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n",
        ),
        ("wget --foo", 2, "wget: unrecognized option '--foo'\nUsage: wget [OPTION]... [URL]...\n"),
        ("wget -T x http://web", 2, "wget: --timeout: Invalid time period 'x'\n"),
        ("wget foo://x", 1, "foo://x: Unsupported scheme 'foo'.\n"),
    ],
)
def test_wrong_command_lines(world: TwoMachines, line: str, status: int, words: str) -> None:
    found = told(world, line)
    assert found[0] == status
    assert found[1].startswith(words)
