"""Container images: registries, pulls, and images that every test needs."""

from simcloud.exports import export_lazily
from simcloud.kubernetes.images.published import Published as Published
from simcloud.kubernetes.images.registry import (
    Host as Host,
    HostState as HostState,
    ImageRegistry as ImageRegistry,
    PullFailed as PullFailed,
)
from simcloud.kubernetes.images.standard import PAUSE as PAUSE, standard_registry as standard_registry

with export_lazily(globals()):
    from simcloud.kubernetes.images import references as references
    from simcloud.kubernetes.images.references import InvalidReference as InvalidReference
    from simcloud.kubernetes.images.tools import alpine_image as alpine_image
