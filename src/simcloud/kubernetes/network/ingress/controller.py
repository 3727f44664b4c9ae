"""The control loop of ingress-nginx: makes locations, upstreams and certificates from the API's objects.

Changes are processed together, at most once in three seconds, as by the genuine controller's queue. Whether an Ingress is
served is decided when it changes: a later change of its IngressClass alone has no effect.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.addons.activity_logs import Logger
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.client import ApiClient
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.events import Recorder, object_reference
from simcloud.kubernetes.host.leaves import Leaf
from simcloud.kubernetes.network.ingress.informers import Informer, Name
from simcloud.kubernetes.network.ingress.locations import CATCH_ALL, Backend, Locations, get_age, list_hosts
from simcloud.kubernetes.network.rules import SERVICE_NAME
from simcloud.machine.network import Endpoint
from simcloud.machine.process import Context

if TYPE_CHECKING:
    from simcloud.kubernetes.network.ingress.certificates import ServerCertificate

COMPONENT: Final = "nginx-ingress-controller"
CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
SYNC_S: Final = 1 / 0.3
"""Time between two syncs: 0.3 in a second."""
SOON_S: Final = 240 * 3600
FAKE_LEAF: Final = Leaf(
    "", "Kubernetes Ingress Controller Fake Certificate", "Acme Co", True, ("ingress.local",)
)
FAKE_S: Final = 365 * 86_400
INGRESSES: Final = "ingresses.networking.k8s.io"
CLASSES: Final = "ingressclasses.networking.k8s.io"
SLICES: Final = "endpointslices.discovery.k8s.io"
FIELDS: Final = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_GO: Final = {"uid": "UID", "apiVersion": "APIVersion"}
RELOADED: Final = "NGINX reload triggered due to a change in configuration"
MISSING: Final = (
    'controller.go:1455] Error getting SSL certificate "{key}": local SSL certificate {key} was not found. '
    "Using default certificate"
)
MISMATCHES: Final = (
    'controller.go:1469] Unexpected error validating SSL certificate "{key}" for server "{host}": {problem}',
    "controller.go:1470] Validating certificate against DNS names. This will be deprecated in a future version",
    'controller.go:1475] SSL certificate "{key}" does not contain a Common Name or Subject Alternative Name for server "{host}": '
    "{problem}",
    "controller.go:1476] Using default certificate",
)
EXPIRED: Final = 'controller.go:1486] SSL certificate for server "{host}" expired ({end})'
EXPIRES: Final = 'controller.go:1488] SSL certificate for server "{host}" is about to expire ({end})'

Upstream = tuple[Endpoint, ...] | str
"""Endpoints, or the outside name and port that a Service stands for."""


class NotServed(Exception):
    """An Ingress belongs to another controller; the message is the controller's."""


class IngressController:
    """Follows the API; ``locations``, ``upstreams`` and ``get_certificate`` are what nginx works with."""

    def __init__(
        self, ctx: Context, access: ApiClient, log: Logger, options: dict[str, str], pod: Object
    ) -> None:
        self._ctx = ctx
        self._access = access
        self._log = log
        self._options = options
        self._pod = pod
        self.client = ComponentClient(access.api, access.user.name, COMPONENT)
        self.client.caller = access.caller
        self._recorder = Recorder(self.client, COMPONENT)
        names = (CLASSES, "services", "configmaps", "secrets", SLICES, INGRESSES)
        self._informers = {name: Informer(access, self.client, log, name) for name in names}
        self._served: dict[Name, Object] = {}
        self._known_certificates: dict[Name, ServerCertificate] = {}
        self._changes: deque[Callable[[], None]] = deque()
        self._scheduled = False
        self._synced_s = -SYNC_S
        self._fake = b""
        self._started_s = ctx.now
        self._certificates: dict[str, bytes] = {}
        self.locations = Locations(())
        self.upstreams: dict[Backend, Upstream] = {}
        self.reloads = 0

    async def start(self) -> None:
        """Fill the caches, Ingresses last, and follow all changes. Waits for permissions."""
        handlers = {
            INGRESSES: self._handle_ingress,
            "secrets": self._handle_secret,
            "configmaps": self._handle_config,
        }
        *first, ingresses = self._informers.values()
        for name, informer in self._informers.items():
            informer.on_change = partial(self._note, handlers.get(name))
        for informer in first:
            informer.start()
        for informer in first:
            await informer.filled.wait()
        ingresses.start()
        await ingresses.filled.wait()

    def stop(self) -> None:
        """Follow no more."""
        for informer in self._informers.values():
            informer.stop()

    def list_served(self) -> list[Object]:
        """Return the served Ingresses, oldest first."""
        return sorted(self._served.values(), key=get_age)

    def get_certificate(self, server_name: str) -> bytes:
        """Return the certificate for a host: its own, that of its wildcard, or the default one, which nobody trusts."""
        for name in (server_name.lower(), f"*.{server_name.lower().partition('.')[2]}"):
            if name in self._certificates:
                return self._certificates[name] or self._get_fake()
        return self._get_fake()

    def record(self, obj: Object, reason: str, message: str) -> None:
        """Record and log an event, if that is permitted."""
        about = object_reference(obj)
        fields = [f'{_GO.get(key, key[0].upper() + key[1:])}:"{about.get(key, "")}"' for key in FIELDS]
        self._log.write_text(
            f"event.go:377] Event(v1.ObjectReference{{{', '.join(fields)}}}): type: 'Normal' reason: '{reason}' {message}"
        )
        try:
            self._access.check("create", self.client.resource("events"), about["namespace"])
        except ApiError as error:
            self._log.write("event.go:359", "Server rejected event (will not retry!)", "E", err=str(error))
            return
        self._recorder.event(obj, "Normal", reason, message)

    # -- changes -------------------------------------------------------------------------------

    def _note(
        self,
        handle: Callable[[Object | None, Object | None], None] | None,
        before: Object | None,
        after: Object | None,
    ) -> None:
        """Leave a change to a task of its own, because this is called in the middle of a write."""
        if handle is None:
            self.schedule()
            return
        if not self._changes:
            self._ctx.spawn(self._handle_changes(), "changes")
        self._changes.append(partial(handle, before, after))

    async def _handle_changes(self) -> None:
        while self._changes:
            self._changes[0]()
            self._changes.popleft()

    def _handle_ingress(self, before: Object | None, after: Object | None) -> None:
        log, named = self._log, _name((after or before or {})["metadata"])
        key = "/".join(named)
        try:
            found = self._find_class(after) if after is not None else ""
        except NotServed as error:
            if named in self._served:
                log.write("store.go:492", "removing ingress because of unknown ingressclass", ingress=key)
            elif before is None:
                text = "Ignoring ingress because of error while validating ingress class"
                log.write("store.go:439", text, ingress=key, error=str(error))
            after = None
        if after is None:
            if self._served.pop(named, None) is not None:
                self.schedule()
            return
        if before is None:
            log.write("store.go:443", "Found valid IngressClass", ingress=key, ingressclass=found)
        elif named not in self._served:
            log.write("store.go:489", "creating ingress", ingress=key, ingressclass=found)
        self._served[named] = after
        self.record(after, "Sync", "Scheduled for sync")
        for secret in _list_secrets(after):
            self._take_secret(secret)
        self.schedule()

    def _find_class(self, ingress: Object) -> str:
        """Return the class by which an Ingress is served; raises ``NotServed``."""
        wanted = ingress["spec"].get("ingressClassName")
        if wanted is not None:
            found = self._informers[CLASSES].objects.get(("", wanted))
            if found is None or found["spec"].get("controller") != self._options["controller-class"]:
                raise NotServed(f'no object matching key "{wanted}" in local store')
            return str(wanted)
        annotated = (ingress["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
        if annotated is not None:
            if annotated != self._options["ingress-class"]:
                raise NotServed("ingress class annotation is not equal to the expected by Ingress Controller")
            return str(annotated)
        if self._options.get("watch-ingress-without-class") == "true":
            return "_"
        raise NotServed("ingress does not contain a valid IngressClass")

    def _handle_secret(self, before: Object | None, after: Object | None) -> None:
        named = _name((after or before or {})["metadata"])
        if after is None:
            self._known_certificates.pop(named, None)
        if not any(named in _list_secrets(ingress) for ingress in self._served.values()):
            return
        line, change = (
            (690, "secret was deleted")
            if after is None
            else (648, "secret was updated")
            if before is not None
            else (614, "Secret was added")
        )
        text = f"{change} and it is used in ingress annotations. Parsing"
        self._log.write(f"store.go:{line}", text, secret="/".join(named))
        if after is not None:
            self._take_secret(named)
        self.schedule()

    def _take_secret(self, named: Name) -> None:
        """Keep the certificate of a Secret; one that cannot be read leaves the earlier one in place."""
        from simcloud.kubernetes.network.ingress.certificates import parse_secret

        key, secret = "/".join(named), self._informers["secrets"].objects.get(named)
        try:
            if secret is None:
                raise ValueError(f'no object matching key "{key}" in local store')
            certificate = parse_secret(key, secret)
        except ValueError as error:
            self._log.write_text(f"backend_ssl.go:47] Error obtaining X.509 certificate: {error}", "W")
            return
        known = self._known_certificates.get(named)
        if known is None:
            self._log.write("backend_ssl.go:67", "Adding secret to local store", name=key)
        elif known.pem != certificate.pem:
            self._log.write("backend_ssl.go:59", "Updating secret in local store", name=key)
        self._known_certificates[named] = certificate

    def _handle_config(self, before: Object | None, after: Object | None) -> None:
        key = "/".join(_name(after["metadata"])) if after is not None else ""
        if after is not None and key == self._options.get("configmap"):
            self.record(after, "CREATE" if before is None else "UPDATE", f"ConfigMap {key}")
            self.schedule()

    # -- syncs ---------------------------------------------------------------------------------

    def schedule(self) -> None:
        """Sync as soon as the rate allows."""
        if not self._scheduled:
            self._scheduled = True
            self._ctx.spawn(self._sync_later(), "sync")

    async def _sync_later(self) -> None:
        await self._ctx.sleep(max(0.0, self._synced_s + SYNC_S - self._ctx.kernel.now))
        self._scheduled = False
        self._synced_s = self._ctx.kernel.now
        self.sync()

    def sync(self) -> None:
        """Build the configuration; reload nginx unless only endpoints and certificates have changed."""
        served = self.list_served()
        named = tuple(self._options.get("configmap", "/").split("/", 1))
        config = self._informers["configmaps"].objects.get((named[0], named[-1])) or {}
        locations = Locations(served, config.get("data") or {})
        self.upstreams = {backend: self._find_upstream(backend) for backend in locations.backends}
        self._certificates = self._choose_certificates(served)
        if locations.hosts != self.locations.hosts or not self.reloads:
            self._log.write("controller.go:214", "Configuration changes detected, backend reload required")
            self._log.write("controller.go:228", "Backend successfully reloaded")
            if not self.reloads:
                self._log.write("controller.go:240", "Initial sync, sleeping for 1 second")
            self.reloads += 1
            self.record(self._pod, "RELOAD", RELOADED)
        self.locations = locations

    def _find_upstream(self, backend: Backend) -> Upstream:
        key = f"{backend.namespace}/{backend.service}"
        service = self._informers["services"].objects.get((backend.namespace, backend.service))
        if service is None:
            what = f'Error obtaining Endpoints for Service "{key}": no object matching key "{key}" in local store'
            self._log.write_text(f"controller.go:1126] {what}", "W")
            return ()
        if service["spec"].get("type") == "ExternalName":
            return f"{service['spec']['externalName']}:{backend.port or 80}"
        for port in service["spec"].get("ports") or ():
            if str(backend.port) in (str(port["port"]), str(port.get("targetPort")), port.get("name")):
                found = tuple(dict.fromkeys(self._list_endpoints(backend, port)))
                if not found:
                    text = f'controller.go:1232] Service "{key}" does not have any active Endpoint.'
                    self._log.write_text(text, "W")
                return found
        return ()

    def _list_endpoints(self, backend: Backend, port: Object) -> Iterator[Endpoint]:
        for (namespace, _), piece in sorted(self._informers[SLICES].objects.items()):
            labels = piece["metadata"].get("labels") or {}
            if namespace != backend.namespace or labels.get(SERVICE_NAME) != backend.service:
                continue
            for endpoint_port in piece.get("ports") or ():
                is_same = not port.get("name") or endpoint_port.get("name") == port["name"]
                number = endpoint_port.get("port") if is_same else port.get("targetPort")
                if not isinstance(number, int):
                    continue
                for endpoint in piece.get("endpoints") or ():
                    if (endpoint.get("conditions") or {}).get("ready") is not False:
                        yield endpoint["addresses"][0], number

    def _choose_certificates(self, served: list[Object]) -> dict[str, bytes]:
        """Return the certificate of each host with TLS; empty for the default one."""
        chosen: dict[str, bytes] = {}
        for ingress in served:
            for host in list_hosts(ingress) if ingress["spec"].get("tls") else ():
                if host not in chosen and host != CATCH_ALL:
                    chosen[host] = self._choose_certificate(ingress, host)
        return chosen

    def _choose_certificate(self, ingress: Object, host: str) -> bytes:
        named = self._find_secret(ingress, host)
        if named is None:
            return b""
        key, certificate, now_s = "/".join(named), self._known_certificates.get(named), self._ctx.now
        problem = certificate.find_name_problem(host) if certificate is not None else ""
        lines: tuple[str, ...] = ()
        if certificate is None:
            lines = (MISSING,)
        elif problem:
            lines = MISMATCHES
        elif certificate.ends_s < now_s + SOON_S:
            lines = (EXPIRED if certificate.ends_s < now_s else EXPIRES,)
        end = certificate.format_end() if certificate is not None else ""
        for line in lines:
            self._log.write_text(line.format(key=key, host=host, problem=problem, end=end), "W")
        return b"" if certificate is None or problem else certificate.pem

    def _find_secret(self, ingress: Object, host: str) -> Name | None:
        """Return the Secret that an Ingress names for a host, or one of its Secrets whose certificate is for the host."""
        namespace = ingress["metadata"]["namespace"]
        for tls in ingress["spec"]["tls"]:
            if host in (tls.get("hosts") or ()):
                return (namespace, tls["secretName"]) if tls.get("secretName") else None
        for named in _list_secrets(ingress):
            certificate = self._known_certificates.get(named)
            if certificate is not None and not certificate.find_name_problem(host):
                return named
        return None

    def _get_fake(self) -> bytes:
        if not self._fake:
            from simcloud.kubernetes.host.signing import sign  # a large library

            seed = sha256(f"{self._ctx.kernel.seed} {self._pod['metadata']['uid']}".encode()).digest()
            self._fake = sign(FAKE_LEAF, seed, None, self._started_s, self._started_s + FAKE_S).certificate
        return self._fake


def _name(metadata: Object) -> Name:
    return metadata.get("namespace") or "", metadata["name"]


def _list_secrets(ingress: Object) -> list[Name]:
    namespace = ingress["metadata"]["namespace"]
    return [
        (namespace, tls["secretName"]) for tls in ingress["spec"].get("tls") or () if tls.get("secretName")
    ]
