"""Order among lines: sorting, repetitions, what files have in common."""
