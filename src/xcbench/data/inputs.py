"""Feature transformation of a model's input rows, and labels of its classes.

The protocol fits it on the training rows. It is stored with the prepared dataset and with saved
weights, so that new rows are transformed as the training rows were.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xcbench.system import arrays as checked
from xcbench.system import durable

FILE = "inputs.npz"
UNLABELLED = -1  # label of the class of rows without any


@dataclass(frozen=True)
class Inputs:
    """Maps a row to features, and a class to its label.

    Attributes
    ----------
    first : number of the first feature in svmlight files; -1 for another format.
    width : number of features in the files, or of places to which these are hashed.
    factors : factors of the first features.
    axes : axes (D, size) on which the scaled features are projected; size 0 for none.
    labels : label (K,) of every class, as in the files.
    centre : subtracted from the coordinates along the axes, (size,); empty for nothing.
    hashed : 1 if features are hashed (`xcbench.data.hashing`), else 0.
    """

    first: int
    width: int
    factors: np.ndarray
    axes: np.ndarray
    labels: np.ndarray
    centre: np.ndarray = field(default_factory=lambda: np.zeros(0))
    hashed: int = 0

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> Inputs:
        """Inverse of `arrays`.

        Raises
        ------
        LookupError, ValueError
            If one is missing, or they do not fit together.
        """
        first, width = (
            int(checked.integers(name, arrays[name], (), -1, np.iinfo(np.int32).max))
            for name in ("first", "width")
        )
        hashed = checked.integers("hashed", np.asarray(arrays.get("hashed", 0)), (), 0, 2)
        axes, labels = arrays["axes"], arrays["labels"]
        factors = checked.real("factors", arrays["factors"], (None,))
        if len(factors) > width:
            raise ValueError(f"there are {len(factors)} factors, width is {width}")
        checked.real("axes", axes, (None, None))
        checked.distinct("labels", labels, labels.size)
        centre = arrays.get("centre", np.zeros(0))  # files of earlier versions have none
        checked.real("centre", centre, (axes.shape[1] if centre.size else 0,))
        return cls(first, width, factors, axes, labels, centre, int(hashed))

    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays to store."""
        return {name: np.asarray(value) for name, value in vars(self).items()}


def save(where: Path, inputs: Inputs) -> None:
    """Write them into the folder of a prepared dataset."""
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **inputs.arrays())
    durable.write(where / FILE, content.getvalue())


def load(where: Path) -> Inputs | None:
    """Read them; None if they are missing or damaged."""
    try:
        return Inputs.of(checked.load(where / FILE))
    except (OSError, ValueError, LookupError):
        return None
