"""The maths: nothing here knows of configuration, files or clocks."""
