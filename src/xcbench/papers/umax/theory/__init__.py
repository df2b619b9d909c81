"""The U-max paper's theory as small measured results: no data, seeds fixed.

`composition` and `implicit_steps` are numbers of claims; each other module ends with its
`demonstration.Demonstration`.
"""
