"""Words and files become checked settings: `composing.read` gives a typed `settings.Config`."""
