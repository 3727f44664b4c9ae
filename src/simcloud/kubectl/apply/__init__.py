"""Apply: computes a change from the last applied, the wanted and the live object."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubectl.apply.three_way import merge_three_way as merge_three_way
