"""Databases, caches and registries that applications store data in.

Each has a sub-package with its server, clients and command-line tools, which exports their names.
"""
