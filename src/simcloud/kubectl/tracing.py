"""``-v``: the lines that kubectl logs about its own requests, on stderr.

From 6 on, each request with its status; 7 adds the headers of requests, 8 those of responses and the beginning of bodies, 9 the
whole bodies and a curl command. Bodies are shown as JSON, also those that the genuine kubectl sends as protobuf.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from email.utils import formatdate
from http import HTTPStatus
from inspect import signature
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from simcloud.golang import quote
from simcloud.kubernetes import ApiClient, format_klog
from simcloud.kubernetes.api import VERSION, ApiError, Object
from simcloud.machine.process import Context

FEATURES: Final = (
    "AtomicFIFO", "ClientsAllowCARotation", "ClientsAllowCBOR", "ClientsAllowTLSCacheGC", "ClientsPreferCBOR", "InOrderInformers",
    "InOrderInformersBatchProcess", "InformerResourceVersion", "UnlockWhileProcessingFIFO", "WatchListClient",
)  # fmt: skip
METHODS: Final = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}
TABLE: Final = "application/json;as=Table;v={};g=meta.k8s.io,"
AGENT: Final = f"kubectl/v1.36.4 (linux/amd64) kubernetes/{VERSION['gitCommit'][:7]}"
BODY_CHARACTERS: Final = 1024


class Tracer:
    """Writes the log of one command. Requests take a few milliseconds while it does."""

    def __init__(self, ctx: Context, level: int, server: str, *, as_tables: bool) -> None:
        self._ctx, self._level, self._server = ctx, level, server
        self.as_tables = as_tables
        """Whether the command asks the server for tables."""
        self._random = ctx.random("kubectl.tracing")
        self._last_s = 0.0
        self._is_connected = False

    async def begin(self, path: str, *, discovers: bool) -> None:
        """Log the kubeconfig, the features and, if the server's resources are not known yet, the requests for them."""
        if self._level >= 6 and path:
            await self._log("loader.go:407", f"Config loaded from file:  {path}")
        for name in self._random.sample(FEATURES, len(FEATURES)):  # the order of a Go map
            enabled = "false" if name.endswith("CBOR") else "true"
            await self._log(
                "envvar.go:195", f'"Feature gate default state" feature="{name}" enabled={enabled}'
            )
        for root in ("/api", "/apis") if discovers else ():
            await self.request("GET", f"{root}?timeout=32s", None, _answer_nothing, dict)

    async def request(
        self,
        method: str,
        path: str,
        body: Any,
        send: Callable[[], Awaitable[Any]],
        show: Callable[[Any], Object],
    ) -> Any:
        """Send a request, log it, and return what was received; ``show`` returns that as the server sent it."""
        if self._level < 6:
            return await send()
        about = f'verb="{method}" url="{self._server}{path}"'
        accepted = TABLE.format("v1") + TABLE.format("v1beta1") if self.as_tables else ""
        headers = {
            "Accept": f"{accepted}application/json",
            "Authorization": "Bearer <masked>",
            "User-Agent": AGENT,
        }
        if self._level >= 8:
            await self._log_body("Request", "" if body is None else msgspec.json.encode(body).decode())
        if self._level >= 7:
            given = " ".join(f'-H "{name}: {value}"' for name, value in headers.items())
            curl = f"curlCommand=<\n\tcurl -v -X{method}  {given} '{self._server}{path}'\n >"
            text = curl if self._level >= 9 else f"{about} headers={_format_headers(headers)}"
            await self._log("round_trippers.go:527", f'"Request" {text}')
        milliseconds = self._random.randint(1, 4) + (0 if self._is_connected else self._random.randint(3, 8))
        self._is_connected = True
        await self._ctx.sleep((milliseconds + self._random.random()) / 1e3)
        end = f"milliseconds={milliseconds}"
        try:
            received = await send()
        except ApiError as error:
            await self._log_response(about, error.code, end, error.status())
            raise
        await self._log_response(about, 201 if method == "POST" else 200, end, show(received))
        return received

    async def _log_response(self, about: str, code: int, end: str, received: Object) -> None:
        before = f"{about} " if self._level in (6, 9) else ""
        text = f'"Response" {before}status="{code} {HTTPStatus(code).phrase}"'
        if self._level >= 8:
            date = formatdate(self._ctx.now, usegmt=True)
            headers = {"Cache-Control": "no-cache, private", "Content-Type": "application/json", "Date": date}
            text += f" headers={_format_headers(headers)}"
        await self._log("round_trippers.go:632", f"{text} {end}")
        if self._level >= 8 and received:
            await self._log_body("Response", msgspec.json.encode(received).decode() + "\n")

    async def _log_body(self, direction: str, body: str) -> None:
        more = len(body) - BODY_CHARACTERS
        if self._level < 9 and more > 0:
            body = f"{body[:BODY_CHARACTERS]} [truncated {more} chars]"
        shown = f"<\n\t{body.rstrip()}\n >" if "\n" in body else quote(body)
        await self._log("helper.go:105", f'"{direction} Body" body={shown}')

    async def _log(self, place: str, text: str) -> None:
        self._last_s = max(self._ctx.now, self._last_s) + self._random.uniform(4e-6, 2e-5)
        await self._ctx.err(format_klog("I", self._last_s, self._ctx.process.pid, place, text) + "\n")


async def _answer_nothing() -> Object:
    """Stand for discovery, which happens in process."""
    return {}


def _format_headers(headers: dict[str, str]) -> str:
    return "<\n" + "".join(f"\t{name}: {value}\n" for name, value in headers.items()) + " >"


class TracedClient(ApiClient):
    """A client whose requests are logged."""

    tracer: Tracer


def _trace(name: str) -> Any:
    """Return a verb of the client that logs its request."""
    untraced = getattr(ApiClient, name)
    parameters = signature(untraced)

    async def call(self: TracedClient, *args: Any, **options: Any) -> Any:
        given = parameters.bind(self, *args, **options)
        given.apply_defaults()
        about = given.arguments
        if name in ("update", "patch") and about["subresource"]:
            return await untraced(self, *args, **options)  # which uses act

        def show(received: Any) -> Object:
            if not isinstance(received, dict):
                return {}
            items = received.get("items", [received])
            return self.table(about["resource"], items) if self.tracer.as_tables else received

        method = METHODS.get(about.get("verb", name), "GET")
        body = about.get("data", getattr(about.get("patch"), "body", None))
        path = _format_path(self.manager, name, about)
        return await self.tracer.request(method, path, body, lambda: untraced(self, *args, **options), show)

    return call


for _name in ("get", "get_list", "watch", "create", "update", "patch", "delete", "act"):
    setattr(TracedClient, _name, _trace(_name))


def _format_path(manager: str, name: str, about: dict[str, Any]) -> str:
    resource, options = about["resource"], about.get("options")
    parts = ["/apis" if resource.group else "/api", resource.api_version]
    if resource.namespaced and about["namespace"]:
        parts += ["namespaces", about["namespace"]]
    parts += [resource.plural, about.get("name"), about.get("subresource") or about.get("action")]
    query = {
        "fieldManager": manager if name in ("create", "update", "patch") else "",
        "fieldSelector": about.get("fields") or getattr(options, "fields", ""),
        "fieldValidation": "Strict" if name in ("create", "update") else "",
        "labelSelector": about.get("labels") or getattr(options, "labels", ""),
        "limit": "500" if name == "get_list" else "",
        "resourceVersion": getattr(options, "resource_version", "") if name == "watch" else "",
        "watch": "true" if name == "watch" else "",
    }
    asked = urlencode({key: value for key, value in query.items() if value})
    return "/".join(filter(None, parts)) + (f"?{asked}" if asked else "")
