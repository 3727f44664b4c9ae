"""Apply: from what was applied last, what is wanted now and what is there, the change to make."""
