"""Code that prepared rows come from, and whether today's code prepares the same.

Rows of a cache hold while the digest of this code is the same, or what it makes of a sample
(`xcbench.data.samples`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from xcbench import plugins
from xcbench.core.dataset import Dataset
from xcbench.data import blobs, categories, samples, synthetic
from xcbench.data.readers import READERS
from xcbench.data.settings import DatasetSettings
from xcbench.errors import UserError
from xcbench.options import Content, Options, changed
from xcbench.system import sources

# Readers that make their rows; the settings of each have its name in `DatasetSettings`.
MAKERS: Content = {"synthetic": synthetic, "categories": categories, "blobs": blobs}
COMMON = ("xcbench.data.protocol", "xcbench.core.statistics")
TOLERANCE = 5e-5  # of numbers, relative to the largest of them; rounding stays below


@dataclass(frozen=True)
class Stamp:
    """What is kept of code with prepared rows.

    Attributes
    ----------
    digest : of the source of the reader and of the protocol.
    numbers : of the prepared sample; None where there is no sample of the format.
    """

    digest: str
    numbers: list[float] | None

    @classmethod
    def today(cls, settings: DatasetSettings, twin: bool) -> Stamp:
        """Stamp of today's code."""
        return cls(sources.digest(*modules(settings.reader, twin)), _numbers(settings, twin))

    def holds(self, settings: DatasetSettings, twin: bool) -> bool:
        """Whether today's code prepares the same rows."""
        if self.digest == sources.digest(*modules(settings.reader, twin)):
            return True
        today = _numbers(settings, twin)
        return self.numbers is not None and today is not None and close(self.numbers, today)


def modules(reader: str, twin: bool) -> tuple[str, ...]:
    """Modules with the code that makes the rows of a dataset."""
    if twin or reader in MAKERS:
        return *COMMON, MAKERS["synthetic" if twin else reader].__name__
    if reader in READERS:
        return *COMMON, READERS[reader].__module__
    return *COMMON, plugins.module("dataset", reader)


def reading(settings: DatasetSettings) -> Content:
    """How files of the user's own are read, as far as it is not the default."""
    how = changed(settings)
    return {name: how[name] for name in ("encoding", "features") if name in how}


def maker_of(settings: DatasetSettings, twin: bool) -> tuple[str, Options] | None:
    """Name and settings of the maker of the rows; None if they are read from files."""
    name = "synthetic" if twin else settings.reader
    return (name, vars(settings)[name]) if name in MAKERS else None


def sample(settings: DatasetSettings, twin: bool) -> Dataset:
    """The sample in the protocol of a dataset.

    Raises
    ------
    UserError
        If there is no sample of its format, or nothing of it is left by the protocol.
    """
    maker = maker_of(settings, twin)
    make = partial(MAKERS[maker[0]].make, samples.smaller(maker[1])) if maker else None
    return samples.dataset(settings, make)


def close(old: list[float], new: list[float]) -> bool:
    """Whether numbers differ by no more than rounding."""
    if len(old) != len(new):
        return False
    a, b = np.asarray(old, float), np.asarray(new, float)
    scale = float(np.abs(a[np.isfinite(a)]).max(initial=0))
    return bool(np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True))


def _numbers(settings: DatasetSettings, twin: bool) -> list[float] | None:
    try:
        return samples.numbers(sample(settings, twin))
    except UserError:
        return None
