"""Databases, caches and service registries, one folder each, with server and clients."""
