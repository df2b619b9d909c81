"""Colours of verdicts on a page, by the classes of its style sheet."""

from __future__ import annotations

# How verdicts begin, and their class on the page; the longest beginning that fits counts.
VERDICTS = {
    "reproduced": "reproduced",
    "reproduced with the code's settings": "code-settings",
    "close": "close",
    "close with the code's settings": "code-settings",
    "agrees with the code's settings": "code-settings",
    "fitted": "fitted",
    "by definition": "neutral",
    "not decided": "neutral",
    "deviates": "deviates",
    "not run": "not-run",
    "not printed": "neutral",
    "setting": "neutral",
    "orientation only": "neutral",
    "holds": "reproduced",
    "holds with the code's settings": "code-settings",
    "does not hold": "deviates",
    "inconclusive": "neutral",
    "not tested": "neutral",
    "not testable": "not-run",
}


def verdict_class(verdict: str) -> str:
    """CSS class of a verdict such as ``not run: data``; empty where its words are not known."""
    fitting = [word for word in VERDICTS if verdict.startswith(word)]
    return VERDICTS[max(fitting, key=len)] if fitting else ""
