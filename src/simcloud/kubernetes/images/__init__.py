"""Images that pods run: where they are kept, how a pull fails, and a few that every test needs."""

from simcloud.kubernetes.images.published import Published
from simcloud.kubernetes.images.registry import Host, HostState, ImageRegistry, PullFailed
from simcloud.kubernetes.images.standard import standard_registry

__all__ = ["Host", "HostState", "ImageRegistry", "Published", "PullFailed", "standard_registry"]
