"""Cells of a table that a paper's ``paper.yaml`` lists, by its name."""

import pandas as pd

from xcbench.papers import Measured, page
from xcbench.papers.claims import described


def table(paper: str, name: str, measured: Measured) -> pd.DataFrame:
    listed = (it for section in described(paper)["sections"] for it in section.get("tables", ()))
    spec = next(it for it in listed if it.get("table") == name)
    shown = {key: value for key, value in spec.items() if key not in ("words", "caption")}
    return page.Content(**shown).frame(paper, measured)
