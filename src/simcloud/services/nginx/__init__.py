"""nginx: its configuration files and the server."""
