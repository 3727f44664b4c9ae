"""SocialNetwork with users: from nothing to a prepared problem, the cost of a request, copies, memory.

The measurements and budgets are in ``_apps.py``. ``python benchmarks/social.py [--json] [--short]``
"""

from __future__ import annotations

import sys

from _apps import run

from aiopslab.apps.socialnet import SocialNetwork

if __name__ == "__main__":
    sys.exit(run(__doc__, SocialNetwork(), "user-service"))
