"""The web page of ``aiopslab serve``: plain HTML, CSS and ES modules in ``static/``, without a build step.

The page loads nothing from other hosts. It has no inline script or style, so that it works under a strict
Content-Security-Policy, and it inserts text only as text: observations come from agents and clusters, which are not trusted.
``static/vendor/`` holds xterm.js and its fit add-on, unmodified.
"""

from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).with_name("static")
"""The folder of the page's files; ``index.html`` in it is the page."""
