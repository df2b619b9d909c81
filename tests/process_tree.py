"""Processes below one, and whether they run: read from /proc."""

from pathlib import Path


def descendants(pid: int) -> list[int]:
    """Process identities below one process, read from /proc."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        children += [int(child) for child in task.read_text().split()]
    return children + [below for child in children for below in descendants(child)]


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not collected yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
