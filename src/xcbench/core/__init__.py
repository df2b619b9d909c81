"""The maths, independent of configuration, files and clocks."""
