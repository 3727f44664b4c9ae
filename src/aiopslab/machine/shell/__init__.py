"""Our shell: a bash interpreter whose processes live in virtual time, and its commands."""
