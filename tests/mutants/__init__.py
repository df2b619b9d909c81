"""Small changes of the code, and whether the tests notice: `make mutants`.

`changes` lists the changes of a file, `lines` records which lines a test runs, `covering` keeps
that record and chooses tests, `trial` runs them on a changed copy, and `results` writes the page.
"""
