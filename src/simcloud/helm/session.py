"""A running helm command."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec.structs import replace

from simcloud.helm.errors import HelmError
from simcloud.helm.releases import Storage
from simcloud.kubectl import Command, Door, Flags, Kubectl, KubectlError
from simcloud.kubectl.kubeconfig import ClientConfig, load
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError, Unauthorized
from simcloud.machine.process import Context

_RENAMED = {
    "kube-context": "context",
    "kube-apiserver": "server",
    "kube-token": "token",
    "kube-as-user": "as",
    "kube-as-group": "as-group",
    "kubeconfig": "kubeconfig",
    "namespace": "namespace",
}
_VARIABLES = {
    "context": "HELM_KUBECONTEXT",
    "server": "HELM_KUBEAPISERVER",
    "token": "HELM_KUBETOKEN",
    "as": "HELM_KUBEASUSER",
    "namespace": "HELM_NAMESPACE",
}


class Helm(Kubectl):
    """What a command of helm is given: what one of kubectl has, by helm's names, and the releases."""

    def __init__(self, ctx: Context, path: str, flags: Flags, door: Door) -> None:
        super().__init__(ctx, Command(path), flags, door)
        self.door = door
        self.warnings: list[str] = []

    @property
    def config(self) -> ClientConfig:
        """Which cluster, as whom; helm has its own flags and variables for that."""
        if self._config is None:
            values = {name: self.flags.get(own) for own, name in _RENAMED.items()}
            for name, variable in _VARIABLES.items():
                values[name] = values[name] or self.ctx.env.get(variable, "")
            try:
                self._config = load(self.ctx, replace(self.flags, values=values))
            except KubectlError as error:
                raise HelmError(f"Kubernetes cluster unreachable: {error.message}") from None
        return self._config

    @property
    def manager(self) -> str:
        """Fields are written under the program's name."""
        return "helm"

    async def connect(self, discoveries: int | None = 0) -> ApiClient:
        """Return the client of the cluster; an unreachable server is reported in helm's words."""
        try:
            return await super().connect(discoveries)
        except KubectlError as error:
            raise HelmError(f"Kubernetes cluster unreachable: {self._why(error.message)}") from None
        except Unauthorized:
            why = "the server has asked for the client to provide credentials"
            raise HelmError(f"Kubernetes cluster unreachable: {why}") from None
        except ApiError as error:
            raise HelmError(f"Kubernetes cluster unreachable: {error.message}") from None

    def _why(self, reason: str) -> str:
        address = urlsplit(self.config.server)
        port = address.port or (443 if address.scheme == "https" else 80)
        host = "127.0.0.1" if address.hostname == "localhost" else address.hostname
        asked = f'Get "{self.config.server.rstrip("/")}/version"'
        if "refused" in reason:
            return f"{asked}: dial tcp {host}:{port}: connect: connection refused"
        return f"{asked}: {reason.removeprefix('Unable to connect to the server: ')}"

    async def storage(self, *, everywhere: bool = False) -> Storage:
        """The releases of the namespace at hand."""
        return Storage(await self.connect(), "" if everywhere else self.namespace)

    async def warn_later(self) -> None:
        """Tell what was noticed about values."""
        noticed, self.warnings = self.warnings, []
        for warning in noticed:
            await self.ctx.err(f"{warning}\n")
