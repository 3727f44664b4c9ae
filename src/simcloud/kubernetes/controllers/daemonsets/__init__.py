"""DaemonSets: which nodes get a pod, and which pods an update replaces."""
