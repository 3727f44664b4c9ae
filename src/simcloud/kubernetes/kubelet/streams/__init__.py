"""Byte streams to containers: exec, attach, port-forward."""
