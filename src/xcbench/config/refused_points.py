"""One-line messages for mistakes in a configuration or on the disk."""

from __future__ import annotations

import traceback
from pathlib import Path

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from xcbench import options
from xcbench.config import hydra_messages, overrides
from xcbench.errors import one_line, reason, suggestion

COMPOSING = (AssertionError, ValueError, OverflowError)  # Hydra's own, such as of =1


def raised_by_hydra(error: BaseException) -> bool:
    """Whether Hydra raised an error while composing a configuration."""
    where = Path(traceback.extract_tb(error.__traceback__)[-1].filename).parts
    return "hydra" in where or "omegaconf" in where


def explain(error: BaseException) -> str:
    """One line for a mistake in the configuration or on the disk."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        choices = error.options or _configurations(options.folder() / group)
        likely = suggestion(name, choices)
        available = f"available: {', '.join(choices)}"
        return f"unknown {group or 'configuration'} '{name}'{likely}; {available}"
    if isinstance(error, OverrideParseException):
        return hydra_messages.of_syntax(error)
    if isinstance(error, HydraException | OmegaConfBaseException):
        parts = [str(error).strip().splitlines()[0]]
        if error.__cause__ is not None and str(error.__cause__).strip():
            parts.append(str(error.__cause__).strip().splitlines()[0])
        if parts[0].startswith("Could not override"):
            key = parts[0].split("'")[1]
            likely = suggestion(key, overrides.all_options())
            if parts[-1].startswith("Key '"):
                parts = [f"unknown option '{key}'"]
            parts.append("`xcbench options` lists what there is" + likely)
        text = "; ".join(dict.fromkeys(part.rstrip(".") for part in parts))
        return hydra_messages.sentence(text) or text
    if str(error).startswith("Unexpected type for root"):
        return (
            "an option is inside a part that is empty, such as dataset.synthetic of a dataset that "
            "is read from files; leave the option out, or `xcbench options` lists what there is"
        )
    if isinstance(error, OSError) and not error.filename:
        why = reason(error)
        return f"a file cannot be written ({why}); make room where runs_dir is, or set another one"
    text = one_line(error)
    return hydra_messages.sentence(text) or text


def _configurations(folder: Path) -> list[str]:
    """Names of the configuration files in a folder and below it."""
    names = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.yaml"))
    return sorted(path.as_posix() for path in names)
