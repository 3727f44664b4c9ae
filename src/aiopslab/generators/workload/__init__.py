"""Users and the load they bring."""
