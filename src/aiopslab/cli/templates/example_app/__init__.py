"""The application example-app."""

from aiopslab.cli.templates.example_app.application import ExampleApp as ExampleApp
