"""Container images: registries, pulls, and images that every test needs."""

from simcloud.kubernetes.images.published import Published
from simcloud.kubernetes.images.registry import Host, HostState, ImageRegistry, PullFailed
from simcloud.kubernetes.images.standard import standard_registry

__all__ = ["Host", "HostState", "ImageRegistry", "Published", "PullFailed", "standard_registry"]
