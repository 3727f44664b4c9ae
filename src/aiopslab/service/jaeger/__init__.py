"""Jaeger all-in-one in a pod: agents' packets in, Jaeger's query API and page out."""

from aiopslab.service.jaeger.image import add_jaeger, jaeger_image
from aiopslab.service.jaeger.program import jaeger

__all__ = ["add_jaeger", "jaeger", "jaeger_image"]
