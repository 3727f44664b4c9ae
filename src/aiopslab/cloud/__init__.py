"""What problems need from a cloud: the embedded world, and copies of it."""
