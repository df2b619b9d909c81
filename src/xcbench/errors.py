"""The one exception that is meant for people."""


class UserError(Exception):
    """A mistake the user can mend: one sentence that says what is wrong, where, and what to do."""
