"""Images that pods run: where they are kept, how a pull fails, and a few that every test needs."""

from aiopslab.cluster.images.published import Published
from aiopslab.cluster.images.registry import Host, HostState, ImageRegistry, PullFailed
from aiopslab.cluster.images.standard import standard_registry

__all__ = ["Host", "HostState", "ImageRegistry", "Published", "PullFailed", "standard_registry"]
