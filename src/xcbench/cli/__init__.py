"""Commands: what people type."""
