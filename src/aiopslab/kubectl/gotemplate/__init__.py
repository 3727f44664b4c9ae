"""The part of Go's text templates that people use with ``-o go-template``."""

from aiopslab.kubectl.gotemplate.nodes import TemplateError
from aiopslab.kubectl.gotemplate.template import GoTemplate

__all__ = ["GoTemplate", "TemplateError"]
