"""What a judge found: each thing it looked at, whether that is as it should be, and why it says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    well: bool
    why: str = ""

    def __str__(self) -> str:
        return f"{'ok ' if self.well else 'NOT'} {self.what}" + (f": {self.why}" if self.why else "")


@dataclass(frozen=True)
class Verdict:
    """All findings; one that is not well fails the repair."""

    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether all is well."""
        return all(finding.well for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))
