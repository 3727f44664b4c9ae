"""The public AIOpsLab release's clients of a cluster, which act on the current embedded cloud and never on this host.

``KubeCtl`` and ``Helm`` run on the operators' host, ``Shell`` on the agent's. The applications are in ``aiopslab.apps``.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.service.current import (
        Cloud as Cloud,
        NoCloud as NoCloud,
        at_cloud as at_cloud,
        find_cloud as find_cloud,
        get_cloud as get_cloud,
        make_current as make_current,
    )
    from aiopslab.service.dock import Docker as Docker
    from aiopslab.service.helm import Helm as Helm
    from aiopslab.service.kubectl import KubeCtl as KubeCtl
    from aiopslab.service.shell import Shell as Shell
