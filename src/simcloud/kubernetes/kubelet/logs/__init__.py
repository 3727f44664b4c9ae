"""Container logs: files on the node, their rotation, their labels, and streams for clients."""
