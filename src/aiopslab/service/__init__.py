"""Software that runs in containers: the RPC model, datastores, applications."""
