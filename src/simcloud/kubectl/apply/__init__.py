"""Apply: computes a change from the last applied, the wanted and the live object."""
