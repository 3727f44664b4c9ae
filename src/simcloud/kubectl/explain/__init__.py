"""Explanations of resource fields, from the OpenAPI documents that the server serves."""
