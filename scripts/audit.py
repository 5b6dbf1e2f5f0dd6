"""Ask a database of known vulnerabilities about every pinned package (`make audit`).

pip-audit calls a package that its database does not know "skipped", and skipping everything a success: a database that
cannot be asked looks like a clean bill. Here nothing is clean that was not looked at.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# The package index's own records, then those of the OSV project.
DATABASES = ("pypi", "osv")
CLEAN, FOUND, NOT_LOOKED_AT = 0, 1, 2


@dataclass(frozen=True)
class Audit:
    """What a database says of the packages: how many it knows, and what is wrong with them."""

    known: int
    unknown: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def status(self) -> int:
        """The exit status."""
        if self.faults:
            return FOUND
        return NOT_LOOKED_AT if self.unknown or not self.known else CLEAN

    def __str__(self) -> str:
        lines = list(self.faults)
        if self.unknown:
            some = ", ".join(self.unknown[:5]) + (", ..." if len(self.unknown) > 5 else "")
            lines.append(f"NOT LOOKED AT: {len(self.unknown)} packages that the database does not know ({some})")
        lines.append(f"{self.known} packages looked at, {len(self.faults)} known vulnerabilities")
        return "\n".join(lines)


def read_audit(report: str) -> Audit:
    """The audit in pip-audit's JSON."""
    packages: list[dict[str, Any]] = json.loads(report)["dependencies"]
    known = [one for one in packages if "skip_reason" not in one]
    faults = tuple(
        f"{one['name']} {one['version']}: {fault['id']}, fixed in {', '.join(fault['fix_versions']) or 'no release'}"
        for one in known
        for fault in one["vulns"]
    )
    return Audit(len(known), tuple(one["name"] for one in packages if "skip_reason" in one), faults)


def main(arguments: Sequence[str]) -> int:
    """Audit the packages of a file with a pip-audit; 0 clean, 1 vulnerabilities, 2 not looked at."""
    program, requirements = arguments
    for database in DATABASES:
        options = ["--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json"]
        command = [program, "--vulnerability-service", database, *options, "--requirement", requirements]
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            audit = read_audit(asked.stdout)
        except ValueError:
            print(f"{database}: cannot be reached: {(asked.stderr.strip().splitlines() or [''])[-1][:300]}")
            continue
        if audit.known:
            print(f"{database}: {audit}")
            return audit.status
        print(f"{database}: cannot be reached: it knows none of the {len(audit.unknown)} packages")
    print("No database of vulnerabilities could be reached: nothing is known about the packages.", file=sys.stderr)
    return NOT_LOOKED_AT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
