"""Settings from a YAML file, as in the public AIOpsLab release; here no file is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


class Config:
    """The settings of a YAML file; a file that does not exist has none."""

    def __init__(self, config_path: Path | str) -> None:
        self.config_path = config_path
        self.config: dict[str, Any] = self._load()

    def _load(self) -> dict[str, Any]:
        path = Path(self.config_path)
        return (yaml.safe_load(path.read_text()) or {}) if path.is_file() else {}

    def get(self, key: str, default: Any = None) -> Any:
        """Return a setting, or the default."""
        return self.config.get(key, default)
