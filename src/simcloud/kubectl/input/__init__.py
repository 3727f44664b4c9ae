"""Input of commands: manifests, files and literals."""
