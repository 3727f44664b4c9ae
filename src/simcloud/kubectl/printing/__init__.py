"""Output formats of objects, as functions."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubectl.printing.yaml_form import any_yaml as any_yaml
