"""nginx: its configuration files and a server that follows them."""
