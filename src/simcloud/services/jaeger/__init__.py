"""Jaeger all-in-one in a pod: agents' packets in, Jaeger's query API and page out."""

from simcloud.services.jaeger.image import add_jaeger, jaeger_image
from simcloud.services.jaeger.program import jaeger

__all__ = ["add_jaeger", "jaeger", "jaeger_image"]
