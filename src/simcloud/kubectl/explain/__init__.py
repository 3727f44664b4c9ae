"""What the fields of resources mean, told from the OpenAPI documents that the server serves."""
