"""Calls of admission webhooks over the cluster's network, from the API server's node to a Service or a URL.

The API server looks up a Service's address itself and connects from its node's own network: the node's kube-proxy
rules select the pod, and decide what happens without endpoints. Certificates are verified for the Service's name,
against the configuration's ``caBundle``; a URL without a bundle cannot be verified by anything in a world.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from simcloud.kubernetes.api.admission.webhooks import CallFailed, Rejected
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key
from simcloud.kubernetes.api.write_retries import Pending
from simcloud.kubernetes.network.http_client import go_words
from simcloud.machine.network import HTTPS, Connection, HttpRequest, HttpResponse, Namespace, NetworkError
from simcloud.sim import TimedOut

AGENT: Final = "kube-apiserver-admission"


class WebhookCalls:
    """The API server's way to webhooks. ``host`` is the network of the node that it runs on."""

    def __init__(self, api: Api, host: Namespace) -> None:
        self._api = api
        self._host = host

    def call(self, url: str, client_config: Object, review: Object, timeout_s: int) -> Pending:
        """Send a review on its way."""
        pending = Pending(self._api.kernel)
        self._api.kernel.spawn(self._carry(pending, url, client_config, review, timeout_s), "webhook")
        return pending

    async def _carry(
        self, pending: Pending, url: str, config: Object, review: Object, timeout_s: int
    ) -> None:
        try:
            with self._api.kernel.timeout(timeout_s):
                answer = await self._post(url, config, review)
        except TimedOut:
            pending.give(None, CallFailed("context deadline exceeded"))
        except CallFailed as error:
            pending.give(None, error)
        else:
            pending.give(answer)

    async def _post(self, url: str, config: Object, review: Object) -> Any:
        parts = urlsplit(url)
        name, port = parts.hostname or "", parts.port or 443
        address = self._address(config["service"]) if config.get("service") else name
        body = msgspec.json.encode(review)
        headers = {
            "Host": parts.netloc,
            "User-Agent": AGENT,
            "Content-Length": str(len(body)),
            "Accept": "application/json, */*",
            "Content-Type": "application/json",
        }
        request = HttpRequest("POST", f"{parts.path or '/'}?{parts.query}", headers, body)
        try:
            connection = await self._host.dial(address, port, HTTPS)
            try:
                self._check_certificate(connection, name, config.get("caBundle") or "")
                connection.send(request, request.size_bytes)
                response = await connection.receive()
            finally:
                connection.close()
        except NetworkError as error:
            raise CallFailed(go_words(error, f"{address}:{port}")) from None
        return _parse_review(response)

    def _address(self, service: Object) -> str:
        """Where a Service is found, without asking the cluster's DNS."""
        found = self._api.log.get(Key("", "services", service["namespace"], service["name"]))
        if found is None:
            raise CallFailed(f'service "{service["name"]}" not found')
        spec, port = found["spec"], service.get("port", 443)
        if spec.get("type") == "ExternalName":
            return str(spec["externalName"])
        if not any(entry["port"] == port for entry in spec.get("ports") or ()):
            raise CallFailed(f'no service port {port} found for service "{service["name"]}"')
        address = spec.get("clusterIP") or ""
        if address in ("", "None"):
            raise CallFailed(f'no ClusterIP found for service "{service["name"]}"')
        return str(address)

    def _check_certificate(self, connection: Connection, name: str, bundle: str) -> None:
        listener = connection.peer.listener
        if listener is None or listener.protocol != HTTPS:
            return  # whoever is there speaks no TLS at all: the first message shows it
        try:
            authorities = base64.b64decode(bundle)
        except (ValueError, binascii.Error):
            authorities = b""
        # Reading certificates takes a library of eight megabytes; few worlds have webhooks.
        from simcloud.kubernetes.network.trust import distrust

        if why := distrust(listener.certificate, authorities, name, self._api.now_s):
            raise CallFailed(why)


def _parse_review(response: Any) -> Any:
    """The review in a response, or a Kubernetes client's complaint about it."""
    if not isinstance(response, HttpResponse):
        raise CallFailed("net/http: HTTP/1.x transport connection broken: malformed HTTP response")
    text = response.body.decode("utf-8", "replace")
    if response.status == 404:
        raise Rejected("the server could not find the requested resource")
    if response.status >= 500:
        raise Rejected(f'an error on the server ("{text.strip()}") has prevented the request from succeeding')
    if response.status >= 400:
        raise Rejected("the server rejected our request for an unknown reason")
    try:
        return msgspec.json.decode(response.body)
    except msgspec.DecodeError:
        why = "unexpected end of JSON input"
        if text.strip()[:1] not in ("", "{", "[", '"'):
            why = f"invalid character '{text.strip()[0]}' looking for beginning of value"
        raise Rejected(f"couldn't get version/kind; json parse error: {why}") from None
