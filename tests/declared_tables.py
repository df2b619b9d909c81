"""Cells of a table that a paper lists, by the beginning of its caption."""

from collections.abc import Iterator

import pandas as pd

from xcbench.papers import Measured, description
from xcbench.papers.description import Part, Table


def tables(paper: str) -> Iterator[Table]:
    """Tables that a paper lists, without those of verdicts."""
    for section in description.of(paper).sections:
        listed = section.tables if isinstance(section, Part) else ()
        yield from (it for it in listed if isinstance(it, Table))


def table(paper: str, caption: str, measured: Measured) -> pd.DataFrame:
    """The only table whose caption begins so."""
    (found,) = (it for it in tables(paper) if str(it.caption).startswith(caption))
    return found.frame(measured)
