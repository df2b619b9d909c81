"""Digests of source code: what a module says, and what it imports.

The digest of a module is the hash of its syntax tree without comments, docstrings and annotations,
and with the imports at its top in any order. So formatting changes nothing. A digest over several
modules covers all that they import from their own packages, and from what is not installed as a
library.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import TypeGuard

from xcbench.system import durable, private

ROOT = Path(__file__).parents[1]
OURS = ROOT.name
DIGITS = 12
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries
TYPE_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
OMITTED = {"ctx", "kind", "type_comment", "annotation", "returns"}


@cache
def digest(*modules: str) -> str:
    """Digest of modules and of all that they import from our package, or from theirs.

    Parameters
    ----------
    modules : names of modules; those of other packages too, such as a method from outside.
    """
    return _hash("\n".join(f"{name} {_parsed(name)[0]}" for name in sorted(closure(*modules))))


@cache
def closure(*modules: str) -> dict[str, Path]:
    """Files by module: the modules given, and what they import."""
    reached: dict[str, Path] = {}
    own, waiting = {_package(name) for name in (OURS, *modules)}, list(modules)
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if name in reached or path is None:
            continue
        if _package(name) in own or not INSTALLED & set(path.parts):
            reached[name] = path
            waiting += _parsed(name)[1]
    return reached


def _package(module: str) -> str:
    """The outermost package of a module."""
    return module.partition(".")[0]


def text_digest(source: str | bytes) -> str:
    """Digest of one module's text.

    Raises
    ------
    SyntaxError
        If it is no Python.
    """
    return _tree_digest(ast.parse(source))


def file_digest(path: Path) -> str:
    """Digest of a file of any kind: of its syntax if it is Python, else of its bytes."""
    content = path.read_bytes()
    return text_digest(content) if path.suffix == ".py" else _hash_bytes(content)


@contextmanager
def remembered() -> Iterator[None]:
    """Keep digests of our modules in the user's cache, for as long as no module changes.

    To parse what a method imports takes a third of a second, to read it a hundredth.
    """
    folder = private.folder("sources")
    if folder is None:
        yield
        return
    state = _state()
    file = folder / f"{state}.json"
    with suppress(OSError, ValueError, TypeError):
        _modules.update(json.loads(file.read_bytes()))
    before = len(_modules)
    yield
    if len(_modules) > before:
        with suppress(OSError):  # it costs time, nothing else
            durable.write(file, json.dumps(_modules))


_modules: dict[str, tuple[str, list[str]]] = {}  # digest and imports of modules of ours


@cache
def _state() -> str:
    """Hash of all our modules as they stand on the disk."""
    files = sorted(ROOT.rglob("*.py"))
    texts = (str(path.relative_to(ROOT)).encode() + path.read_bytes() for path in files)
    return _hash_bytes(b"\0".join(texts))


def _hash(text: str) -> str:
    return _hash_bytes(text.encode("utf-8", "surrogatepass"))


def _hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]


@cache
def _parsed(module: str) -> tuple[str, list[str]]:
    """Digest of a module's own text, and what it imports."""
    if module in _modules:
        return _modules[module]
    path = _file(module)
    assert path is not None
    tree = ast.parse(path.read_bytes())
    parsed = _tree_digest(tree), list(_imports(module, path, tree))
    if _package(module) == OURS:
        _modules[module] = parsed
    return parsed


@cache
def _file(module: str) -> Path | None:
    """File of a module; None for the standard library, and for what is not written in Python."""
    top, _, rest = module.partition(".")
    folder = ROOT if top == OURS else _outside(top)
    if folder is None:
        return None
    if folder.suffix == ".py":  # a module that is no package
        return None if rest else folder
    place = folder.joinpath(*rest.split(".")) if rest else folder
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file() and path != folder.with_suffix(".py"):
            return path
    return None


@cache
def _outside(top: str) -> Path | None:
    """Folder of a package, or file of a module, of another origin."""
    if not top or top in sys.stdlib_module_names:
        return None
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin)
    if path.suffix != ".py":
        return None
    return path.parent if path.name == "__init__.py" else path


def _imports(module: str, path: Path, tree: ast.Module) -> Iterator[str]:
    """Modules that a module may import, wherever it does; not those for type checkers alone."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if _file(inner) else base


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes below one, without what is there for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if _for_type_checkers(child):
            yield from _executed(ast.Module(child.orelse, []))
        else:
            yield child
            yield from _executed(child)


def _for_type_checkers(node: object) -> TypeGuard[ast.If]:
    """Whether only type checkers execute the body of a node."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in TYPE_CHECKING


def _tree_digest(tree: ast.Module) -> str:
    """Digest of a syntax tree: the imports at its top, then all else.

    Their order counts where one may hide another.
    """
    imports = [node for node in tree.body if isinstance(node, IMPORTS)]
    names = [alias.asname or alias.name for node in imports for alias in node.names]
    lines = [ast.dump(node) for node in imports]
    if len({*names}) == len(names) and "*" not in names:
        lines.sort()
    rest = [node for node in tree.body if not isinstance(node, IMPORTS)]
    return _hash("\n".join([*lines, *_serialised(ast.Module(rest, []))]))


def _serialised(node: object) -> Iterator[str]:
    """A syntax tree as lines, without what changes no result."""
    if isinstance(node, list):
        yield "["
        for item in node:
            yield from _serialised(item)
        yield "]"
    elif not isinstance(node, ast.AST):
        yield f"{type(node).__name__} {node!r}"
    elif _for_type_checkers(node):
        yield from _serialised(node.orelse)
    else:
        documented = isinstance(node, DOCUMENTED) and ast.get_docstring(node, False) is not None
        yield type(node).__name__
        for name, value in ast.iter_fields(node):
            if name in OMITTED or value is None or value == []:
                continue
            yield name
            yield from _serialised(value[1:] if name == "body" and documented else value)
