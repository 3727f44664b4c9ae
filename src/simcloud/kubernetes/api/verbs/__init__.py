"""The API's verbs: get, list, watch, create, update, patch, delete."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.api.verbs.deletes import read_options as read_options
    from simcloud.kubernetes.api.verbs.patches import Patch as Patch, apply_patch as apply_patch
    from simcloud.kubernetes.api.verbs.watches import (
        Watch as Watch,
        WatchEvent as WatchEvent,
        WatchOptions as WatchOptions,
    )
