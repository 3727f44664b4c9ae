"""The Kubernetes API over HTTP, for genuine kubectl and the client libraries."""
