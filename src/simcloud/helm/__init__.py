"""The built-in helm: charts from a machine's files, rendered and stored in the cluster as releases.

It shares kubeconfigs, connections, Go templates and YAML with kubectl. Releases are stored in the format of the genuine helm, so
each can read the other's.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.helm import releases as releases
    from simcloud.helm.program import helm_program as helm_program
    from simcloud.helm.values import merge_maps as merge_maps
