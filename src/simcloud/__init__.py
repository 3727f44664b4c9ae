"""The embedded cloud: machines, a Kubernetes that genuine clients talk to, datastores and telemetry, on a virtual clock.

It knows nothing about incidents, problems or agents, and is useful alone: to test operators, controllers and clients
without a cluster.
"""
