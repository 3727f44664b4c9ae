"""The cluster network: pod addresses, Services, names, policies and ingress."""
