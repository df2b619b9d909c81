"""Code that the numbers of a cell come from, and whether it still gives them.

Two levels, as in build systems. The digest of the source (`sources`) is cheap and strict.
Where it differs, the fingerprint of behaviour decides (`xcbench.plan.fingerprint`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from xcbench import plugins
from xcbench.core import engines, samplers
from xcbench.data import code as data_code
from xcbench.data import samples
from xcbench.methods import registry
from xcbench.methods.method import stochastic
from xcbench.methods.options import AUTO, MethodOptions, SampledOptions
from xcbench.options import Content
from xcbench.plan import fingerprint
from xcbench.plan.fingerprint import DATA, Case, Numbers
from xcbench.system import durable, private, sources

COMMON, TRIALS = ("xcbench.train.training",), "xcbench.train.rate"
UNKNOWN, ANY = "not recorded", "code"  # instead of a changed part
DIGITS = 12
NOISES = 8  # draws of noise, of which one may undo a tie
KEPT = "fingerprints"  # in the user's cache


@dataclass(frozen=True)
class Code:
    """What a cell records of its code.

    Attributes
    ----------
    case : settings that the fingerprint is taken with.
    digest : of the source.
    numbers : the fingerprint; None where none can be taken.
    """

    case: Case
    digest: str
    numbers: Numbers | None

    @classmethod
    def of(cls, content: Content) -> Code | None:
        """Inverse of `content`; None where nothing, or something else, was recorded."""
        try:
            return cls(Case(**content["case"]), content["digest"], content["numbers"])
        except (LookupError, TypeError):
            return None

    @property
    def content(self) -> Content:
        """As JSON."""
        return asdict(self)

    @property
    def name(self) -> str:
        """Identity of the behaviour, which a digest is no part of."""
        return _hash({"case": asdict(self.case), "numbers": self.numbers})


@dataclass(frozen=True)
class Change:
    """What became of the code of a cell.

    Attributes
    ----------
    parts : columns of the fingerprint that changed, `ANY` where no fingerprint tells, or `UNKNOWN`.
    unchecked : why a changed source could not be compared; its numbers are then taken as they are.
    """

    parts: tuple[str, ...] = ()
    unchecked: str = ""

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def trains(self) -> bool:
        """Whether the weights change; else an evaluation is enough."""
        return not all(map(fingerprint.is_metric, self.parts))

    @property
    def reason(self) -> str:
        """The parts in words."""
        if self.parts in ((UNKNOWN,), (ANY,)):
            return {UNKNOWN: "its code was not recorded", ANY: "its code changed"}[self.parts[0]]
        if not self.trains:
            return f"changed: {_first(self.parts)}"
        return "changed: " + ("data" if DATA in self.parts else "training")


def _first(names: Sequence[str], most: int = 3) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def digest(case: Case) -> str:
    """Digest of today's source for a case."""
    sampler = str(case.options.get("sampler", ""))
    tries = case.options.get("lr") == AUTO
    return _digest(case.method, sampler, str(case.dataset["reader"]), case.twin, tries)


def source(method: str, options: MethodOptions, reader: str, twin: bool) -> str:
    """The same, of a method's reference and options, and of where the rows come from."""
    sampler = options.sampler if isinstance(options, SampledOptions) else ""
    return _digest(method, sampler, reader, twin, options.lr == AUTO)


@cache
def _digest(method: str, sampler: str, reader: str, twin: bool, tries: bool) -> str:
    modules = {*COMMON, *data_code.modules(reader, twin), registry.module(method)}
    if tries:
        modules.add(TRIALS)
    if sampler not in ("", *samplers.NAMES):
        modules.add(plugins.module("sampler", sampler))
    return sources.digest(*sorted(modules))


def today(case: Case, source: str = "") -> Code:
    """Record of today's code; a fingerprint takes a twentieth of a second, and is kept.

    Parameters
    ----------
    source : digest of the code as it was when this process began; that of the files by default.
    """
    source = source or digest(case)
    folder = private.folder(KEPT)
    of = {"case": asdict(case), "digest": source, "form": _form()}
    path = folder / f"{_hash(of)}.json" if folder else None
    if path and (kept := _kept(path)):
        return kept
    try:
        numbers = fingerprint.numbers(case)
    except Exception:  # a method of somebody's own on rows that are not its own
        numbers = None
    record = Code(case, source, numbers)
    if path and numbers is not None:
        with suppress(OSError):
            durable.write(path, json.dumps(record.content))
    return record


@cache
def _form() -> list[str]:
    """Digests of the code that takes fingerprints."""
    return [sources.text_digest(inspect.getsource(it)) for it in (fingerprint, samples)]


def _kept(path: Path) -> Code | None:
    try:
        return Code.of(json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return None


def change(record: Code | None, method: str = "") -> Change:
    """What of the code of a record differs from today's.

    Parameters
    ----------
    method : reference of the method that is asked for; that of the record by default. Two plugins
        may have one name.
    """
    if record is None:
        return Change((UNKNOWN,))
    if method and method != record.case.method:
        return Change((ANY,))
    if record.digest == digest(record.case):
        return Change()
    if reason := _impossible(record.case):
        return Change(unchecked=reason)
    new = today(record.case)
    if record.numbers is None or new.numbers is None:
        return Change((ANY,))
    return _beyond_rounding(record, new)


def _beyond_rounding(record: Code, new: Code) -> Change:
    """What differs between two records, but for what rounding alone moves.

    Another processor adds in another order. Where that decides, nothing tells whether the code
    changed.
    """
    assert record.numbers is not None and new.numbers is not None
    optimum = not stochastic(fingerprint.options(record.case))
    moved = fingerprint.differences(record.numbers, new.numbers, optimum)
    if not moved:
        return Change()
    parts = moved
    for seed in range(NOISES):
        noisy = fingerprint.numbers(record.case, seed)
        loose = fingerprint.differences(new.numbers, noisy, optimum)
        parts = [name for name in parts if name not in loose]
        if not parts:
            return Change(unchecked=f"rounding alone moves {_first(moved)}")
    return Change(tuple(parts))


def renewed(record: Code) -> Code:
    """The same record with the digest of today's source, which gives the same numbers."""
    return replace(record, digest=digest(record.case))


def _impossible(case: Case) -> str:
    """Why no fingerprint can be taken on this machine, or nothing."""
    if not engines.installed(case.engine):
        return f"engine {case.engine} is not installed"
    sampler = str(case.options.get("sampler", ""))
    available = [*registry.builtin(), *plugins.usable("method")]
    if case.method not in available:
        return f"method {case.method} is not installed"
    if sampler not in ("", *samplers.NAMES, *plugins.usable("sampler")):
        return f"sampler {sampler} is not installed"
    return str(registry.find(case.method).thing.lacks(fingerprint.options(case)))


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:DIGITS]
