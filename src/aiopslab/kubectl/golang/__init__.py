"""How Go writes and compares the values of objects: what kubectl's output forms are made of."""
