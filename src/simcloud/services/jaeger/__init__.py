"""Jaeger all-in-one in a pod: it receives the packets of agents and serves Jaeger's query API and web page."""

from simcloud.services.jaeger.image import add_jaeger as add_jaeger, jaeger_image as jaeger_image
from simcloud.services.jaeger.program import jaeger as jaeger
