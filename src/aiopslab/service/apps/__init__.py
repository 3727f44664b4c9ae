"""Module paths of the public AIOpsLab release; the applications are in ``aiopslab.apps``."""
