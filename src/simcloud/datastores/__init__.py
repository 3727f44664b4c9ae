"""Databases, caches and registries that applications keep their data in: one folder each, server and clients."""
