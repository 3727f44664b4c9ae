"""Consul as a dev agent: the program, its image and a client for Go programs."""

from simcloud.datastores.consul.client import ConsulAddresses, ConsulClient, ConsulError
from simcloud.datastores.consul.command import consul
from simcloud.datastores.consul.image import add_consul, consul_image

__all__ = ["ConsulAddresses", "ConsulClient", "ConsulError", "add_consul", "consul", "consul_image"]
