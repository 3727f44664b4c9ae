"""The built-in kubectl: one module per verb, calling the API in process."""
