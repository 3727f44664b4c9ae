"""``Application`` under the module path of the public AIOpsLab release."""

from aiopslab.apps import Application

__all__ = ["Application"]
