"""The social network on a living cluster."""

from __future__ import annotations

from urllib.parse import quote

from aiopslab.apps.socialnet import SocialNetwork
from simcloud.machine.network.http import HttpRequest
from tests.aiopslab.apps.living import LivingApplication


class Living(LivingApplication):
    """The social network, a user of it and an operator."""

    def __init__(self, seed: int = 5, nodes: int = 2) -> None:
        super().__init__(SocialNetwork(), seed, nodes)

    def logs(self, name: str, lines: int = 20) -> list[str]:
        """The last lines of a Deployment's log."""
        return self.typed(f"k logs deploy/{name} --tail {lines}").splitlines()

    def read(self, which: str, user: int, start: int = 0, stop: int = 10) -> tuple[int, str]:
        """A part of a timeline."""
        return self.asked(f"/wrk2-api/{which}-timeline/read?user_id={user}&start={start}&stop={stop}")

    def compose(self, user: int, text: str) -> tuple[int, str]:
        """Write a post."""
        form = {"username": f"username_{user}", "user_id": str(user), "text": text, "post_type": "0"}
        return self.posted("/wrk2-api/post/compose", form)

    def posted(self, path: str, form: dict[str, str]) -> tuple[int, str]:
        """Send a form."""
        body = "&".join(f"{name}={quote(value)}" for name, value in form.items())
        response = self.sent(HttpRequest("POST", path, {}, body.encode()))
        return response.status, response.body.decode()
