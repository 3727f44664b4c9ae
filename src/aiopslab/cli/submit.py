"""``aiopslab submit``: end the session of a problem that ``aiopslab cluster up --problem`` serves, and print the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request

from aiopslab.cli.cluster_status import Unreachable, connect
from aiopslab.cli.output import open_console
from aiopslab.cli.problems import DONE, UsageError
from aiopslab.cli.session_view import show_ending, show_results
from aiopslab.utils import AIOpsLabError
from simcloud.server.kubernetes import SESSION

JUDGING_S = 600.0


class NotSubmitted(AIOpsLabError):
    """No session took the answer; the message says why."""


def submit_answer(words: list[str], kubeconfig: Path, as_json: bool) -> int:
    """Submit an answer to the session of a kubeconfig; return 0 if it was judged. Raises ``UsageError`` if it is refused."""
    try:
        connection = connect(kubeconfig)
    except Unreachable as error:
        raise NotSubmitted(str(error)) from None
    url = connection.addresses.get(SESSION)
    if url is None:
        raise NotSubmitted(
            f"{kubeconfig} belongs to a cluster without a problem. Start one with `aiopslab cluster up --problem ID`."
        )
    request = Request(url, " ".join(words).encode(), connection.headers, method="POST")
    try:
        with connection.opener.open(request, timeout=JUDGING_S) as response:
            result = json.load(response)
    except HTTPError as error:
        message = error.read().decode(errors="replace").strip()
        if error.code == 422:
            raise UsageError(message) from None
        raise NotSubmitted(message or f"{url} refused the request ({error.code}).") from None
    except (URLError, OSError):
        raise NotSubmitted(f"No session answers at {url}. Is `aiopslab cluster up` still running?") from None
    if as_json:
        print(json.dumps(result, indent=1))
    else:
        out = open_console()
        show_results(out, result["results"])
        show_ending(out, result)
    return DONE
