"""A campaign of faults against the product: ``make faults`` writes ``reports/reliability.md``.

Every trial breaks one thing in a copy of a finished or empty workspace, looks at what the product
then shows, launches again, and compares with numbers that nothing disturbed. It needs Linux.
"""
