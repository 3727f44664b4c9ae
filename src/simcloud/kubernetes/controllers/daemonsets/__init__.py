"""What the DaemonSet controller decides: which nodes want a pod, and which pods an update takes away."""
