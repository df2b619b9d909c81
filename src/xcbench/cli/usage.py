"""Text of ``--help``. Imports nothing, so that help is instant."""

from __future__ import annotations

from collections.abc import Sequence

OVERVIEW = """\
xcbench COMMAND [name=value ...]

train methods and compare them
  run          train: one cell, or with -m every combination; the same as `python run.py`
  results      print one row a cell, or with --curves one a checkpoint; --format NAME
  report       write tables, figures and a page; --self-contained: the page as one file, to send
  show         print everything about a cell, with the command that runs it again
  compare      print where two cells differ, or two grids
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
  merge        bring the cells of another runs folder, as of another machine, into this one
  verify       find damaged files; asks before it moves them away, --yes does not
  track        rebuild the MLflow store from the cells
  digests      print digests of the code and settings that every stage of dvc.yaml uses

name=value is a setting (runs_dir, reports_dir) or a filter on a column of the results:
  xcbench results dataset=bibtex method=umax,implicit status=done
  xcbench report grid=demo name=demo      (grid=: the cells of a launch)
`xcbench COMMAND --help` says more of a command, `xcbench --version` prints the version.
NO_COLOR=1 prints without colours.
"""

COMMANDS = {
    "run": """\
[-m] [name=value ...]

Run cells; -m runs every combination of the values between commas. The same command again runs only
missing cells.
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
[--curves] [--format csv|md|json|latex|parquet] [out=FILE] [checkpoint=best|last]
[column=value ...]

Print one row a cell, or with --curves one a checkpoint, of the cells that meet every filter. The
row of a cell with validation rows is its checkpoint with the lowest validation loss, else the last
one; checkpoint=last always takes the last. The column checkpoint says which.
md and latex have the first columns alone. parquet needs pyarrow, and is not printed to a terminal.
Example: xcbench results dataset=bibtex method=umax,implicit status=done
""",
    "launches": """\
[grid=NAME] [--format csv|md|json|latex|parquet] [out=FILE] [runs_dir=runs]

Print one row a launch: its wall time, and the seconds of every phase. Load, compile, train and
evaluate are sums over the workers; idle is the time that workers waited.
Example: xcbench launches grid=demo --format md
""",
    "show": """\
CELL [runs_dir=runs]

Print all of a cell: settings, curve, clocks, its folder, and the command that runs it again.
Example: xcbench show 1d8a      (the first digits of its id are enough)
""",
    "compare": """\
CELL CELL [runs_dir=runs]   or
grid=NAME grid=NAME [metric=NAME,NAME] [checkpoint=best|last] [column=value ...] [runs_dir=runs]

Print the settings in which two cells differ, and their last checkpoints side by side. Or pair the
cells of two grids whose settings are the same but for those in which the grids differ, and print
only what changed: settings, statuses, and the effect b - a over the common seeds with its 95 %
interval, those that exclude 0 first. metric= names other columns than the test measures.
Example: xcbench compare grid=before grid=after dataset=bibtex
""",
    "clean": """\
column=value ... [--yes] [runs_dir=runs]

List the cells that meet every filter, ask, and remove them; --yes does not ask.
Example: xcbench clean status=failed
""",
    "merge": """\
FOLDER [keep=ours|theirs] [plan=true] [runs_dir=runs]

Bring the cells, grids and launches of another runs folder into this one. Damaged cells are refused
and listed. A cell that both folders have stays ours; it is listed if its numbers differ, and
keep=theirs takes those of FOLDER. plan=true changes nothing. FOLDER stays as it is.
Example: xcbench merge /mnt/other/runs plan=true
""",
    "verify": """\
[--yes] [runs_dir=runs]   or   [PAPER…] [sample=40] [seed=0] [reports_dir=reports]

Read every cell, grid and prepared dataset, and ask whether to move damaged ones away. Or draw so
many committed rows of papers, of all by default, train them again, and print the differences.
Example: xcbench verify umax sample=10
""",
    "train": """\
FILE [method=implicit] [out=model] [test=FILE] [epochs=20] [seed=0] [name=value ...]

Train a method on the rows of a file, and write the model to a folder. A row is
'label feature:value ...' (svmlight); labels are any text. A first line 'N D K' announces the format
of the Extreme Classification Repository.
  lr=0.1 negatives=5 l2=1     options of the method: `xcbench options` lists them
  protocol.tfidf=true protocol.row_norm=l2     transforms of the features; stored with the model
  protocol.label=each         learn all labels of a row 'l1,l2 feature:value ...', not the smallest
                              alone; method=one_vs_all always does
  test=FILE                   measure the model on these rows, too
  encoding=latin-1            encoding of the labels, if it is not UTF-8
  features=2**20              hash the features to so many places; the model remembers it
  early_stopping=none         learn from all rows; by default up to 200 are held out, where a class
                              has fewer than 25 and trials find the rate, and the best epoch is kept
Example: xcbench train news.svm method=implicit protocol.tfidf=true out=news/
""",
    "predict": """\
MODEL|CELL FILE [k=1] [out=FILE] [encoding=utf-8] [trust=MODULE] [runs_dir=runs]

Print label:log-probability of the best k classes of every row of a file (label:score for a method
without probabilities). MODEL is a folder that `xcbench train` wrote. A CELL must have run with
save_weights=true; the file has the format of the files that it was trained on. A method or sampler
of a module of your own, module.thing, is imported with trust=module alone.
Example: xcbench predict news/ rows.svm k=5 out=predictions.txt
""",
    "evaluate": """\
MODEL FILE [k=1] [encoding=utf-8] [trust=MODULE]

Print the error, the log loss in nats and the precision at k of a model on labelled rows. A label
that the training rows lack counts as an error, and has no log loss.
Example: xcbench evaluate news/ test.svm k=5
""",
    "data": """\
list | fetch NAME ... | verify [NAME ...]   [data_dir=data]

List the datasets and where their files come from, download them, or check them.
Example: xcbench data fetch bibtex
""",
    "report": """\
[--self-contained] [grid=NAME] [name=NAME] [checkpoint=best|last] [column=value ...]
[reports_dir=reports] [runs_dir=runs]

Write tables, figures and a page of the cells that meet every filter to reports/NAME/.
The page links to its figures; --self-contained also writes self-contained.html, one file to send.
Example: xcbench report grid=demo name=demo
""",
    "paper": """\
NAME [part=tuning|runs|report] [grid=NAME] [workers=1] [executor=local] [force=true] [plan=true]
[--self-contained] [name=value ...]

Run what is missing of a paper (umax, ove, ar, adv, memoir, scent) and write its report.
plan=true counts the cells that would run, with verbose=true it lists them.
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
[part=cells|check|report] [task=NAME] [method=NAME] [name=NAME] [reports_dir=reports]

Run the missing trials and final cells of every method on every task, under the protocol in
reports/board/PROTOCOL.md; then write tables and page. Methods of installed packages take part.
With task= or method= the board is partial. It starts from the committed rows, has no checks, and
writes to reports/board-partial, or to reports/NAME with name=NAME; reports/board stays as it is.
Example: xcbench board task=digits method=umax,ove
""",
    "advise": """dataset=NAME [dataset.train=FILE] [seconds=60] [probabilities=true]
[predict=SECONDS] [mib=SIZE] [features=NUMBER] [name=value ...]

Compare the methods on a dataset, or with dataset=file on your own file, for about so many seconds.
Say which method to use, and which command to run next. Of methods about as good as the best, it is
the fastest to train; below 0.1 s of training, the best. The cells have the grid advise.
  probabilities=true          only methods that give probabilities
  predict=0.001               only methods that predict a row in at most so many seconds
  mib=10                      only models of at most this size
  features=2**20              hash the features of your own file to so many places
Example: xcbench advise dataset=file dataset.train=news.svm dataset.protocol.tfidf=true
""",
    "digests": """\
(no options)

Print digests of the code and settings behind the rows and the reports of every paper, as JSON. A
comment changes none of them.
Example: xcbench digests
""",
    "track": """\
[tracking_uri=URI] [reports_dir=reports] [runs_dir=runs]

Rebuild the MLflow store from the cells. On a server (tracking_uri=http://HOST:PORT, or
MLFLOW_TRACKING_URI), send the missing runs and delete the runs of removed cells.
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
    """Text for ``--help`` or ``--version`` if either is among the words, else None."""
    if VERSION in words:
        from importlib.metadata import version

        return f"xcbench {version('xcbench')}\n"
    if not any(word in HELP for word in words):
        return ""
    named = [word for word in words if word in COMMANDS]
    return f"usage: xcbench {named[0]} {COMMANDS[named[0]]}" if named else f"usage: {OVERVIEW}"
