"""``bc``, the calculator."""
