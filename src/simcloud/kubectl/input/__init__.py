"""What a command line brings in: manifests, files, literals, overrides."""
