"""Consul as a dev agent: the program, its image and a client for Go programs."""

from simcloud.datastores.consul.client import (
    ConsulAddresses as ConsulAddresses,
    ConsulClient as ConsulClient,
    ConsulError as ConsulError,
)
from simcloud.datastores.consul.command import consul as consul
from simcloud.datastores.consul.image import add_consul as add_consul, consul_image as consul_image
