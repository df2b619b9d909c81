"""What ``--help`` prints. It imports nothing, so that it is there at once."""

from __future__ import annotations

from collections.abc import Sequence

OVERVIEW = """\
xcbench COMMAND [name=value ...]

train methods and compare them
  run          train: one cell, or with -m every combination; the same as `python run.py`
  results      print one row a cell, or with --curves one a checkpoint; --format csv|md|json
  report       write tables, figures and a page; --self-contained: the page as one file, to send
  show         print everything about a cell, with the command that runs it again
  compare      print where two cells differ
  ui           serve the curves in MLflow on localhost
  options      list every option of a run

re-run a paper
  paper        run what is missing of a paper and write its report: `xcbench paper umax`
  replication  write every printed number beside ours, and the first page of the reports

compare all methods with one another
  board        run every method on every task under one protocol, and write its page
  advise       run a short comparison on your own data, and say which method to use

use a classifier on your own data
  train        train a method on a file; labels may be any text
  predict      print the best classes of every row of a file
  evaluate     print error, log loss and precision on labelled rows

get data, add your own method
  data         list, fetch and verify datasets
  new          write a package with a method of your own: `xcbench new method NAME`

look after the results
  launches     print where the wall time of every launch went
  clean        remove the cells that meet every filter; asks first, --yes does not
  verify       find damaged files; asks before it moves them away, --yes does not
  track        rebuild the MLflow store from the cells
  versions     print the versions of methods and data

name=value is a setting (runs_dir, reports_dir) or a filter on a column of the results:
  xcbench results dataset=bibtex method=umax,implicit status=done
  xcbench report grid=demo name=demo      (grid=: the cells of a launch)
`xcbench COMMAND --help` says more of a command, `xcbench --version` prints the version.
NO_COLOR=1 prints without colours.
"""

COMMANDS = {
    "run": """\
[-m] [name=value ...]

Run cells; -m runs every combination of values with commas. The same command again runs what is
missing.
  dataset=NAME method=NAME     `-m dataset=here`: all whose files are here; `-m method=all`
  method.lr=0.1 method.negatives=5     options of the method; with -m, of every method that has them
  only.NAME.lr=0.1             with -m, an option of one method alone
  budget.epochs=20 seed=0      how long it trains, and with which draws
  experiment=NAME              a grid of ours; rates=NAME: rates of a paper
  plan=true workers=2 grid=NAME force=true save_weights=true
  executor=slurm|dask|ray workers=64     on a cluster
`xcbench options` lists every option, --hydra-help those of Hydra.
Example: python run.py -m method=ove,umax,implicit dataset=digits method.lr=0.01,0.1
""",
    "results": """\
[--curves] [--format csv|md|json] [column=value ...]

Print one row a cell, or with --curves one a checkpoint, of the cells that meet every filter.
Example: xcbench results dataset=bibtex method=umax,implicit status=done
""",
    "launches": """\
[grid=NAME] [--format csv|md|json] [runs_dir=runs]

Print one row a launch: its wall time, and the seconds of every phase. Those of load, compile,
train and evaluate are sums over the workers; idle is what the workers waited.
Example: xcbench launches grid=demo --format md
""",
    "show": """\
CELL [runs_dir=runs]

Print all of a cell: settings, curve, clocks, its folder, and the command that runs it again.
Example: xcbench show 1d8a      (the first digits of its id are enough)
""",
    "compare": """\
CELL CELL [runs_dir=runs]

Print the settings in which two cells differ, and their last checkpoints side by side.
Example: xcbench compare 1d8a 77f0
""",
    "clean": """\
column=value ... [--yes] [runs_dir=runs]

List the cells that meet every filter, ask, and remove them; --yes does not ask.
Example: xcbench clean status=failed
""",
    "verify": """\
[--yes] [runs_dir=runs]

Read every cell, grid and prepared dataset, and ask whether to move damaged ones away.
Example: xcbench verify
""",
    "train": """\
FILE [method=implicit] [out=model] [test=FILE] [epochs=20] [seed=0] [name=value ...]

Train a method on rows 'label feature:value ...' (svmlight, or with a first line 'N D K' the format
of the Extreme Classification Repository), and write the model to a folder. Labels are any text.
  lr=0.1 negatives=5 l2=1     options of the method: `xcbench options` lists them
  protocol.tfidf=true protocol.row_norm=l2     how features are made; stored with the model
  protocol.label=each         all labels of a row 'l1,l2 feature:value ...' are learnt, not the
                              smallest alone; method=one_vs_all learns all by itself
  test=FILE                   measure the model on these rows, too
Example: xcbench train news.svm method=implicit protocol.tfidf=true out=news/
""",
    "predict": """\
MODEL|CELL FILE [k=1] [out=FILE] [runs_dir=runs]

Print label:log-probability of the best k classes of every row of a file (scores of a method without
probabilities). MODEL is a folder that `xcbench train` wrote; of a CELL, the file is read as those
that it was trained on, and it must have run with save_weights=true.
Example: xcbench predict news/ rows.svm k=5 out=predictions.txt
""",
    "evaluate": """\
MODEL FILE [k=1]

Print the error, the log loss in nats and the precision at k of a model on labelled rows. A label
that training has not seen is an error, and has no log loss.
Example: xcbench evaluate news/ test.svm k=5
""",
    "data": """\
list | fetch NAME ... | verify [NAME ...]   [data_dir=data]

List the datasets and where their files come from, download them, or check them.
Example: xcbench data fetch bibtex
""",
    "report": """\
[--self-contained] [grid=NAME] [name=NAME] [column=value ...] [reports_dir=reports] [runs_dir=runs]

Write tables, figures and a page of the cells that meet every filter to reports/NAME/.
The page links to its figures; --self-contained also writes self-contained.html, one file to send.
Example: xcbench report grid=demo name=demo
""",
    "paper": """\
NAME [part=tuning|runs|report] [grid=NAME] [workers=1] [executor=local] [force=true] [plan=true]
[--self-contained] [name=value ...]

Run what is missing of a paper (adv, ar, memoir, ove, umax) and write its report.
Example: xcbench paper umax dataset=mnist
""",
    "replication": """\
[reports_dir=reports] [since=COMMIT]

Write every printed number of the papers beside ours to reports/replication.csv, and the first page
of the reports: index.html, and README.md with the same text. With since=COMMIT also
reports/verdict-changes.csv: the numbers that had another verdict at that commit, with the reason.
Example: xcbench replication
""",
    "board": """\
[part=tuning|runs|check|report] [task=NAME] [method=NAME] [reports_dir=reports] [runs_dir=runs]

Run what is missing of the board (reports/board/PROTOCOL.md): of every method, also of those that
other packages announce, the trials and final cells on every task; then write its tables and page.
part=check runs the checks of the chain.
Example: xcbench board task=digits method=umax,ove
""",
    "advise": """dataset=NAME [dataset.train=FILE] [seconds=60] [probabilities=true]
[predict=SECONDS] [mib=SIZE] [name=value ...]

Run a short comparison of the methods on a dataset, or on your own file with dataset=file, for about
so many seconds, and say which to use and what to run next. probabilities=true takes those alone
that have any, predict=0.001 those that need at most so many seconds to predict a row, mib=10 models
of at most this size.
Example: xcbench advise dataset=file dataset.train=news.svm dataset.protocol.tfidf=true
""",
    "versions": """\
(no options)

Print the versions of methods and data that identities of cells are made of.
Example: xcbench versions
""",
    "track": """\
[tracking_uri=URI] [reports_dir=reports] [runs_dir=runs]

Rebuild the MLflow store from the cells. On a server (tracking_uri=http://HOST:PORT, or
MLFLOW_TRACKING_URI), send what it lacks and put away the runs of removed cells.
  reports_dir=reports          record every report of this folder too, with its files
Example: xcbench track
""",
    "ui": """\
[port=5000] [tracking_uri=URI] [runs_dir=runs]

Serve the MLflow UI on localhost.
Example: xcbench ui port=5001
""",
    "options": """\
(no options)

List every option of a run, with its default and its meaning.
Example: xcbench options
""",
    "new": """\
method NAME

Write a package with a method of your own that works, to start from.
Example: xcbench new method mine
""",
}
VERSION = "--version"
HELP = ("--help", "-h")


def asked(words: Sequence[str]) -> str:
    """What to print for ``--help`` or ``--version`` among the words; nothing without them."""
    if VERSION in words:
        from importlib.metadata import version

        return f"xcbench {version('xcbench')}\n"
    if not any(word in HELP for word in words):
        return ""
    named = [word for word in words if word in COMMANDS]
    return f"usage: xcbench {named[0]} {COMMANDS[named[0]]}" if named else f"usage: {OVERVIEW}"
