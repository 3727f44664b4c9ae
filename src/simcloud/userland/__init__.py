"""The software of simulated machines: bash and the commands of operators, and images that contain them."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.userland.distributions import (
        BIONIC as BIONIC,
        BULLSEYE as BULLSEYE,
        BUSTER as BUSTER,
        XENIAL as XENIAL,
        build_image as build_image,
    )
    from simcloud.userland.images import operator_image as operator_image
