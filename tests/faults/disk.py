"""A disk that loses its power: what was not synced may not be there afterwards.

Names and contents are kept apart, as a file system keeps them. ``fsync`` of a file makes its
content and its own name last, ``fsync`` of a folder the names in it; all else may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from faults.shim import Operation


@dataclass(eq=False)
class File:
    """Content now, and as it was synced."""

    data: bytearray = field(default_factory=bytearray)
    synced: bytes = b""


@dataclass(eq=False)
class Folder:
    """Names now, and as they were synced."""

    names: dict[str, File | Folder] = field(default_factory=dict)
    synced: dict[str, File | Folder] = field(default_factory=dict)


class Disk:
    """What a process has done to the files below a folder.

    Parameters
    ----------
    root : the folder, as the operations name it.
    base : where its content stands before the first operation, all of it synced.
    """

    def __init__(self, root: Path, base: Path | None = None) -> None:
        self.root = root.resolve()
        self.top = _read(base) if base and base.exists() else Folder()

    def apply(self, operation: Operation) -> None:
        """Follow one operation."""
        if operation.kind == "say" or operation.failed:
            return
        folder, name = self._find(operation.path)
        node = folder.names.get(name, self.top)
        if not name and operation.kind == "mkdir":
            return  # the root itself
        match operation.kind:
            case "mkdir":
                folder.names[name] = Folder()
            case "create" | "open":
                file = folder.names.setdefault(name, File())
                if operation.kind == "create" and isinstance(file, File):
                    file.data.clear()
            case "write" if isinstance(node, File):
                end = operation.offset + len(operation.data)
                node.data.extend(bytes(max(0, end - len(node.data))))
                node.data[operation.offset : end] = operation.data
            case "truncate" if isinstance(node, File):
                del node.data[operation.offset :]
            case "unlink" | "rmdir":
                folder.names.pop(name, None)
            case "link" | "rename" | "exchange":
                target, other = self._find(operation.other)
                old = target.names.get(other)
                target.names[other] = node
                if operation.kind != "link":
                    folder.names.pop(name)
                if operation.kind == "exchange" and old:
                    folder.names[name] = old
            case "fsync":
                self._sync(operation.path, node)

    def _find(self, path: str) -> tuple[Folder, str]:
        """The folder of a path, and the path's name in it."""
        parts = Path(path).relative_to(self.root).parts
        folder = self.top
        for part in parts[:-1]:
            below = folder.names.setdefault(part, Folder())
            assert isinstance(below, Folder), path
            folder = below
        return folder, parts[-1] if parts else ""

    def _sync(self, path: str, node: File | Folder) -> None:
        if isinstance(node, File):
            node.synced = bytes(node.data)
        else:
            node.synced = dict(node.names)
        folder = self.top
        for part in Path(path).relative_to(self.root).parts:  # its own name, and those above
            below = folder.names[part]
            folder.synced[part] = below
            if isinstance(below, Folder):
                folder = below

    def left(self, loss: str) -> State:
        """What a loss of power leaves."""
        state: State = {}
        _collect(self.top, "", loss, state)
        return state


# ``empty``: names last, contents that were not synced are gone; ``torn``: these are zeros from
# their middle on; ``names``: names that were not synced are as before.
LOSSES = ("empty", "torn", "names")
State = dict[str, bytes | None]  # content of every path; of a folder None


def _read(path: Path) -> Folder:
    names: dict[str, File | Folder] = {}
    for entry in path.iterdir():
        if entry.is_dir():
            names[entry.name] = _read(entry)
        else:
            content = entry.read_bytes()
            names[entry.name] = File(bytearray(content), content)
    return Folder(names, dict(names))


def _collect(folder: Folder, prefix: str, loss: str, state: State) -> None:
    for name, node in (folder.synced if loss == "names" else folder.names).items():
        path = prefix + name
        if isinstance(node, Folder):
            state[path] = None
            _collect(node, path + "/", loss, state)
        else:
            state[path] = _content(node, loss)


def _content(file: File, loss: str) -> bytes:
    data = bytes(file.data)
    if data == file.synced or loss == "names":
        return file.synced
    if loss == "empty":
        return file.synced if data.startswith(file.synced) else b""
    return data[: len(data) // 2] + bytes(len(data) - len(data) // 2)


def write(state: State, where: Path) -> None:
    """Write a state into a new folder."""
    where.mkdir(parents=True)
    for path, content in state.items():
        if content is None:
            (where / path).mkdir()
        else:
            (where / path).write_bytes(content)
