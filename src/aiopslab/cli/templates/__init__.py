"""What ``aiopslab new`` writes: a working module and its test of each kind, with "example" in their names.

They are ordinary modules, so that their format, lint and types are checked. ``cli/new.py`` copies them and replaces the names
``ExampleFault``, ``example_fault`` and ``example-fault``; nothing imports them.
"""
