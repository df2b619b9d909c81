"""The theory of the adversarial-softmax paper as small measured results: no data, seeds fixed.

All are on one small problem, `problem`. `theorems` are numbers of claims.
"""
