"""The Kubernetes API in process: objects in one revision log, behind the rules of their kinds."""
