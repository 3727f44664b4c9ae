"""The release that is emulated."""

from __future__ import annotations

from typing import Final

VERSION: Final = "6.2.4"
