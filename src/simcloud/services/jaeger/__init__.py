"""Jaeger all-in-one in a pod: it receives the packets of agents and serves Jaeger's query API and web page."""

from simcloud.services.jaeger.image import add_jaeger, jaeger_image
from simcloud.services.jaeger.program import jaeger

__all__ = ["add_jaeger", "jaeger", "jaeger_image"]
