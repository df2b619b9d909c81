"""The changes of a file: one operator, constant, condition or result each.

A change keeps the rest of the file as it is written. Texts, annotations, decorators, assertions and
the arguments of errors stay.
"""

from __future__ import annotations

import ast
import builtins
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
PAIRS = ("min max", "any all", "minimum maximum", "argmin argmax", "floor ceil", "zeros ones")
NAMES = {a: b for pair in map(str.split, PAIRS) for a, b in (pair, pair[::-1])}
KEPT = (ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)  # texts, and what types need
HEADED = (ast.If, ast.For, ast.While, ast.With)
BLOCKS = (*HEADED, ast.FunctionDef, ast.Try)


@dataclass(frozen=True)
class Change:
    """One change of a file; ``line`` is the stripped first line of the changed part."""

    file: str
    number: int
    line: str
    before: str
    after: str
    nth: int  # of the same changes of such lines in the file
    lines: range  # of its statement, or of what runs it: all of a function, of a default or a file
    span: tuple[int, int]  # of the changed part, in bytes

    @property
    def label(self) -> str:
        """The changed part, then what it becomes."""
        return f"{self.before} → {self.after}"

    @property
    def key(self) -> str:
        """Identity, which does not depend on changes of other lines."""
        return "\t".join((self.file, self.line, self.label, str(self.nth)))

    def order(self, seed: int) -> str:
        """Place in the draw of a seed."""
        return hashlib.sha256(f"{seed}\t{self.key}".encode()).hexdigest()

    def apply(self, source: bytes) -> bytes:
        """The file after the change."""
        start, end = self.span
        return source[:start] + self.after.encode() + source[end:]


def changes(file: str, source: bytes) -> list[Change]:
    """All changes of a file, each of which compiles."""
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:n])) for n in range(len(lines))]
    counts: Counter[tuple[str, str]] = Counter()
    result = []
    for node, new, within in _places(ast.parse(source), range(1, len(lines) + 1)):
        start = starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None and node.end_col_offset is not None
        end = starts[node.end_lineno - 1] + node.end_col_offset
        line = lines[node.lineno - 1].decode().strip()
        before = " ".join(source[start:end].decode().split())
        change = (line, f"{before} → {new}")
        result.append(
            Change(file, node.lineno, line, before, new, counts[change], within, (start, end))
        )
        counts[change] += 1
    return result


def _places(node: ast.AST, lines: range) -> Iterator[tuple[ast.expr, str, range]]:
    """Expressions, what each becomes, and the lines whose tests run it."""
    if isinstance(node, ast.expr):
        for new in replacements(node):
            yield node, _written(new, node), lines
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield node.value, "None", lines
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare):
        negated = ast.UnaryOp(ast.Not(), node.test)
        yield node.test, _written(negated, node.test), lines
    for child in _children(node):
        yield from _places(child, _lines(child, node, lines))


def _lines(node: ast.AST, parent: ast.AST, lines: range) -> range:
    """Narrow the lines to a function, or to a statement of one."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return _extent(node)
    if isinstance(node, ast.stmt) and isinstance(parent, BLOCKS) and lines.start > 1:
        return (
            range(node.lineno, node.body[0].lineno) if isinstance(node, HEADED) else _extent(node)
        )
    return lines


def _extent(node: ast.stmt | ast.expr) -> range:
    assert node.end_lineno is not None
    return range(node.lineno, node.end_lineno + 1)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a node that may change."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, KEPT):
                continue
            if isinstance(child, ast.Raise) or _names_types(child):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":  # an assertion of zip
                continue
            yield child


def _names_types(node: ast.AST) -> bool:
    """Whether it is for type checkers only."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ("cast", "TypeVar", "isinstance", "issubclass")
    return isinstance(node, ast.Assign) and _is_type(node.value)


def _is_type(node: ast.expr) -> bool:
    """Whether a value is written as types are: ``Callable[…]``, ``int | str``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _is_type(node.left) and _is_type(node.right)
    named = isinstance(node, ast.Name) and (node.id[0].isupper() or node.id in dir(builtins))
    return named or (isinstance(node, ast.Subscript) and _is_type(node.value)) or _is_none(node)


def replacements(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression may become."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            yield _with(node, ops=[OPERATORS[type(op)]()])
            if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                yield ast.UnaryOp(ast.Not(), node)
        case ast.Compare(ops=[first, *rest]) if rest and type(first) in OPERATORS:
            yield _with(node, ops=[OPERATORS[type(first)](), *rest])
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            if not (_is_text(node.left) or _is_text(node.right)):
                yield _with(node, op=OPERATORS[type(op)]())
        case ast.BoolOp(op=op):
            yield _with(node, op=OPERATORS[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2 * value or 1.0)
        case ast.Name(id=name) if name in NAMES:
            yield _with(node, id=NAMES[name])
        case ast.Attribute(attr=name) if name in NAMES:
            yield _with(node, attr=NAMES[name])


def _with(node: ast.expr, **fields: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _written(new: ast.expr, old: ast.expr) -> str:
    """Source of the new expression, in brackets unless the old one is a word."""
    text = ast.unparse(new)
    return text if isinstance(old, ast.Constant | ast.Name | ast.Attribute) else f"({text})"


def _is_text(node: ast.expr) -> bool:
    constant = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return constant or isinstance(node, ast.JoinedStr)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
