"""Simulated computers: files, processes, network, shell."""
