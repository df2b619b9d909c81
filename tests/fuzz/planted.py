"""A module that inputs name: nothing that is read may import it."""

NAME = f"{__name__}.Thing"


class Thing:
    """What they name in it."""
