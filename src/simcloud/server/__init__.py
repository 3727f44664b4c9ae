"""The HTTP doors of the cloud: the APIs that genuine clients speak."""
