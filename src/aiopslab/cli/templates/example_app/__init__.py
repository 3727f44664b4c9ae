"""The application example-app."""

from aiopslab.cli.templates.example_app.application import ExampleApp

__all__ = ["ExampleApp"]
