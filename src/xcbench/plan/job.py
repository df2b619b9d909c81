"""A point of a grid, composed once; as JSON it reaches other processes and machines."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import pandas as pd

from xcbench.config.settings import Config
from xcbench.core.dataset import Info
from xcbench.data import Missing, Unprepared, external
from xcbench.data.settings import DatasetSettings
from xcbench.methods import registry
from xcbench.options import Content
from xcbench.store import cells
from xcbench.store.cell import CURVE_COLUMNS, Cell
from xcbench.system import sealed

NO_CURVE = pd.DataFrame(columns=CURVE_COLUMNS)  # to make one takes a millisecond
STATES = {kind.__name__: kind for kind in (Info, Unprepared, Missing)}  # of a dataset


@dataclass(frozen=True)
class Job:
    """A cell to run: its configuration, dataset and identity.

    Attributes
    ----------
    as_skipped : identity that the same cell has while its data are missing.
    method : what names the method to another process: its name, or its target.
    origins : where that comes from which is not ours.
    label : as progress lines show it, with every setting in which cells of the launch differ.
    source : digest of the code that its numbers come from.
    lockstep : what jobs have in common that are faster in lockstep; None where it is not faster.
    """

    settings: Config
    info: Info | Unprepared | Missing
    cell: Cell
    as_skipped: str
    method: str
    origins: dict[str, str]
    label: str
    source: str = ""
    lockstep: str | None = None

    def to_json(self) -> str:
        """The job as text; its cell has no curve and no weights yet."""
        content: Content = vars(self) | {
            "settings": asdict(self.settings),
            "info": {"state": type(self.info).__name__, **asdict(self.info)},
            "cell": cells.content(self.cell),
        }
        return json.dumps(content)

    @classmethod
    def of_json(cls, text: str) -> Job:
        """The job of a text; imports its method and its dataset."""
        content = json.loads(text)
        settings, info = content["settings"], content["info"]
        named = {key: settings["dataset"][key] for key in ("name", "reader")}
        outside = external.external(DatasetSettings(**named))
        dataset = type(outside.thing.settings) if outside else DatasetSettings
        method = registry.find(content["method"]).thing.schema
        settings["dataset"] = sealed.record(dataset, settings["dataset"])
        settings["method"] = sealed.record(method, settings["method"])
        content["settings"] = sealed.record(Config, settings)
        content["info"] = sealed.record(STATES[info.pop("state")], info)
        content["cell"] = sealed.record(Cell, {**content["cell"], "curve": NO_CURVE})
        return cls(**content)
