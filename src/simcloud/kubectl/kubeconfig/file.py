"""The kubeconfig file that ``kubectl config`` modifies."""

from __future__ import annotations

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.kubeconfig.config import paths, read_file
from simcloud.kubectl.kubeconfig.fields import INNER, Config, order_kubeconfig
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubectl.session import Kubectl
from simcloud.machine.files import FileError


class Kubeconfig:
    """The kubeconfig file that changes go to."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._files = kubectl.ctx.files
        self.path = self._where(paths(kubectl.ctx, kubectl.flags))
        try:
            self.config: Config = read_file(kubectl.ctx, self.path)
        except FileError:
            self.config = {}
        for part in INNER:
            self.config[part] = list(self.config.get(part) or ())

    def _where(self, known: list[str]) -> str:
        """Return the first existing file, or else the last one named."""
        return next((path for path in known if self._files.exists(path)), known[-1])

    def entry(self, part: str, name: str) -> Config | None:
        """A cluster, context or user."""
        found = next((candidate for candidate in self.config[part] if candidate.get("name") == name), None)
        if found is None:
            return None
        inner: Config = found.setdefault(INNER[part], {})
        if inner is None:
            inner = found[INNER[part]] = {}
        return inner

    def make(self, part: str, name: str) -> Config:
        """The same, made if it is not there."""
        found = self.entry(part, name)
        if found is None:
            found = {}
            self.config[part].append({"name": name, INNER[part]: found})
        return found

    def save(self) -> None:
        """Write the file, entries by name, as kubectl writes it."""
        config = order_kubeconfig(self.config)
        for part in INNER:
            config[part] = sorted(config[part] or (), key=lambda one: str(one["name"])) or None
        folder = self.path.rpartition("/")[0]
        if folder and not self._files.exists(folder):
            self._files.mkdir(folder, 0o755, parents=True)
        lock = f"{self.path}.lock"
        if self._files.exists(lock):
            raise KubectlError(f"open {lock}: file exists")
        try:
            self._files.put(lock, b"", mode=0)
            self._files.put(self.path, as_yaml(config).encode(), mode=0o600)
            self._files.remove(lock)
        except FileError as error:
            raise KubectlError(f"open {self.path}: {error.strerror.lower()}") from None
