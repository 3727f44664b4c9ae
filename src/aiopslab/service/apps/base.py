"""``Application`` under the module path of the public AIOpsLab release."""

from aiopslab.apps.base import Application

__all__ = ["Application"]
