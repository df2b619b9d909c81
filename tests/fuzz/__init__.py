"""Coverage-guided fuzzing of all that reads files: ``make fuzz`` writes ``reports/fuzzing.md``.

An input is an array of bytes, cut at `targets.CUT` where a reader takes several files. A target
may refuse it in one sentence; any other exception, more than ten seconds or two GiB is a finding.
What once was one stays in ``tests/fuzz/found/TARGET/`` and is a test.
"""
