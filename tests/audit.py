"""``make audit``: licences of what requirements.lock names, and its known vulnerabilities.

Where the registry has no vulnerabilities to tell, as without a network, it is said and passes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
HEAD = """# Licences of the dependencies

Of every package of `requirements.lock` that is installed, as it names its licence itself;
written by `make audit`.

"""


def tool(name: str, *words: str) -> str:
    """What a module prints, whatever its exit code."""
    command = [sys.executable, "-m", name, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def licences() -> str:
    """Table of the locked packages."""
    names = re.findall(r"^([\w.-]+)==", LOCK.read_text("utf-8"), re.M)
    words = ("--from=mixed", "--format=json", "--packages", *names)
    rows = json.loads(tool("piplicenses", *words))
    lines = ["| package | version | licence |", "|:--|:--|:--|"]
    for row in sorted(rows, key=lambda row: row["Name"].lower()):
        licence = row["License"].splitlines()[0].strip()
        lines.append(f"| {row['Name']} | {row['Version']} | {licence} |")
    return HEAD + "\n".join(lines) + "\n"


def vulnerable() -> tuple[list[str], int]:
    """Known vulnerabilities in the locked versions, and how many packages were looked up."""
    words = ("-r", str(LOCK), "--no-deps", "--disable-pip", "--format", "json")
    try:
        packages = json.loads(tool("pip_audit", *words))["dependencies"]
    except (ValueError, KeyError):
        return [], 0
    known = [package for package in packages if "skip_reason" not in package]
    result = [
        f"{package['name']} {package['version']}: {entry['id']}, mended in "
        f"{', '.join(entry['fix_versions']) or 'no version'}"
        for package in known
        for entry in package["vulns"]
    ]
    return result, len(known)


def main() -> int:
    """Write the licences; 1 if a locked version has a known vulnerability."""
    (ROOT / "reports" / "licences.md").write_text(licences(), "utf-8")
    print("licences: reports/licences.md")
    result, number = vulnerable()
    if not number:
        print("vulnerabilities: not looked up, the registry tells none here (offline?)")
        return 0
    print("\n".join(result) or f"no known vulnerability in {number} packages")
    return 1 if result else 0


if __name__ == "__main__":
    sys.exit(main())
