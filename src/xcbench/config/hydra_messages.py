"""Messages of Hydra and OmegaConf in plain sentences."""

from __future__ import annotations

import re

from hydra.errors import OverrideParseException

from xcbench.errors import one_line

VALUES = {  # what is wrong with a value, by a pattern of OmegaConf's message
    "could not be converted to Float": "it must be a number",
    "could not be converted to Integer": "it must be an integer",
    "is not a valid bool": "it must be true or false",
    "is not a ListConfig, list or tuple": "it must be a list, such as [A,B]",
    "Cannot convert '.*' to string": "it must be text",
    "is not Optional": "it needs a value",
    "Invalid type assigned": "it has options of its own; set one of them, as NAME.OPTION=VALUE",
}
OTHERS = {  # sentences by a pattern of the whole message
    "Environment variable '(.*)' not found": r"the environment variable \1 is not set",
    "Interpolation key '(.*)' not found": r"${\1} refers to no option",
    "Unsupported interpolation type (.*)": r"${\1:…} is not understood; ${…} takes the name of an "
    "option",
    "Recursive interpolation": "an option refers to itself by ${…}",
    "Error resolving interpolation": "dataset, method and experiment take plain names, as in "
    "dataset=digits method=umax, and cannot be removed",
    "(.*) appears more than once in the final": r"\1 is set twice; write \1=NAME, without +",
    "Multiple values for (.*?)[.] ": r"\1 is set twice; write \1=NAME, without +",
    "Key '(.*)' not in 'Config'": r"unknown option '\1'; `xcbench options` lists what there is",
    "Could not delete from config. '(.*)' does not": r"there is no option '\1' to remove",
    "Config group override must be": "settings are NAME=VALUE, and dataset, method and experiment "
    "take plain names, as in dataset=digits method=umax",
}
SYNTAX = {  # what is wrong with a word, by a pattern of Hydra's message
    "missing EQUAL": "settings are NAME=VALUE",
    "while evaluating": "write the values of a sweep as NAME=A,B or NAME=range(FIRST,END)",
    "": "check its brackets, quotes and commas",
}


def value_problem(message: str) -> str:
    """What is wrong with a value, by OmegaConf's message; else the message."""
    return next((text for pattern, text in VALUES.items() if re.search(pattern, message)), message)


def sentence(message: str) -> str | None:
    """A plain sentence for a message, if there is one."""
    merging = re.match("Error merging override (.*?); ", message, re.DOTALL)
    if merging:
        return f"{merging[1]} is not possible: {value_problem(message[merging.end() :])}"
    for pattern, text in OTHERS.items():
        if match := re.search(pattern, message):
            return match.expand(text)
    return None


def of_syntax(error: OverrideParseException) -> str:
    """What is wrong with a word that Hydra cannot parse."""
    message = one_line(error)
    why = next(text for pattern, text in SYNTAX.items() if pattern in message)
    return f"{error.override} is not understood: {why}"
