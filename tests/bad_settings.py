"""Bad settings, and names that files of the user's own cannot have."""

from __future__ import annotations

from bad_case import THREE, Case


def settings(name: str, words: tuple[str, ...], says: str, **more) -> Case:
    return Case("Settings", name, words, says, **more)


OWN = ("dataset=file", "dataset.train=own.txt", "dataset.test=own.txt")


def own(path: str) -> tuple[str, ...]:
    return ("dataset=file", f"dataset.train={path}", f"dataset.test={path}")


SETTINGS = [
    settings("unknown dataset", ("dataset=nope",), "nope.*digits"),
    settings("unknown dataset of a sweep", ("-m", "dataset=digits,nope"), "nope.*digits"),
    settings("unknown method", ("method=nope",), "nope.*umax"),
    settings("unknown name of a method", ("method.name=nope",), "nope.*umax"),
    settings("unknown reader", ("dataset.reader=tsv",), "dataset.reader=tsv is unknown"),
    settings("unknown preset", ("experiment=nope",), "nope"),
    settings("unknown presets swept", ("-m", "experiment=a,b"), "preset|experiment"),
    settings("two presets swept", ("-m", "experiment=first,second", "hydra.searchpath=[file://presets]"), "a preset cannot itself be swept.*one after the other", files={"presets/experiment/second.yaml": b"# @package _global_\ngrid: second\n"}),
    settings("unknown key", ("seeed=1",), "seeed.*xcbench options"),
    settings("unknown group", ("budjet.epochs=1",), "budjet.*xcbench options"),
    settings("added key", ("+foo=1",), "foo"),
    settings("added key of a sweep", ("-m", "+foo=1,2"), "foo"),
    settings("removed group", ("~method",), "method"),
    settings(
        "implicit draws outside the labels",
        ("method=implicit", "method.negatives=5", "method.sampler=any"),
        "sampler=others",
    ),
    settings("empty group", ("method=null",), "^error: method=null is not possible: null is no name; write method=NAME, or leave it out$"),
    settings("empty dataset of a sweep", ("-m", "dataset=NULL"), "^error: dataset=NULL is not possible: NULL is no name; write dataset=NAME, or leave it out$"),
    settings("number for a name", ("variant=1",), "^error: variant=1 is not possible: 1 is no name"),
    settings("no name at all", ("=1",), "^error: settings are NAME=VALUE, .*; in .*=1"),
    settings("key of another method", ("-m", "method=ove,softmax", "method.delta=1,2"), "delta"),
    settings("key of a maker", ("dataset.synthetic.train=300",), "synthetic"),
    settings("reader without numbers", ("dataset.reader=synthetic",), "synthetic"),
    settings("type", ("method.negatives=many",), "method.negatives.*many"),
    settings("type of a sweep", ("-m", "method.lr=0.1,abc", "runs_dir=one-type"), "skipped: .*method.lr=abc .*method.lr=abc is not possible", code=1, begun=True),
    settings("flag", ("force=maybe",), "force.*maybe"),
    settings("negative rate", ("method.lr=-1",), "method.lr.*greater than 0"),
    settings("rate of zero", ("method.lr=0",), "method.lr.*greater than 0"),
    settings("rate that is no number", ("method.lr=nan",), "method.lr.*finite"),
    settings("infinite rate", ("method.lr=inf",), "method.lr.*finite"),
    settings("one bad rate of a sweep", ("-m", "method.lr=0.1,-1", "runs_dir=one-rate"), "skipped: .*method.lr=-1 .*greater than 0", code=1, begun=True),
    settings("bad rates alone in a sweep", ("-m", "method.lr=-2,-1"), "method.lr=-2.*greater than 0"),
    settings("part that no dataset of a sweep has", ("-m", "dataset=digits,file", "dataset.synthetic.train=9"), "inside a part that is empty.*; in .*dataset=digits dataset.synthetic.train=9"),
    settings("rate of a method without one", ("method=softmax", "method.lr=0.1"), "leave method.lr out"),
    settings("rate in words", ("method.lr=fast",), "method.lr=fast is not possible: it must be a number, or auto"),
    settings("several rates in one", ("method.lr=[1]",), "method.lr=.*it must be a number, or auto"),
    settings("patience without rows to judge by", ("budget.patience=3",), "budget.patience=3 needs rows that are held out; set evaluation.validation=0.2"),
    settings("no patience", ("budget.patience=0", "evaluation.validation=0.2"), "budget.patience=0.*at least 1"),
    settings("patience with one call", ("method=softmax", "budget.patience=3", "evaluation.validation=0.2"), "budget.patience=3 is not possible for softmax.*cannot be stopped"),
    settings("schedule of another step", ("method=ove", "method.optimizer=ar", "method.lr_schedule=linear"), "lr_schedule=linear is for method.optimizer=sgd"),
    settings("no epochs", ("budget.epochs=0",), "budget.epochs.*greater than 0"),
    settings("epochs that are no number", ("budget.epochs=nan",), "budget.epochs.*finite"),
    settings("choice", ("dtype=float16",), "dtype.*float64"),
    settings("choice of a dataset", ("dataset.missing=perhaps",), "missing.*twin.*error.*skip"),
    settings("5 negative classes of K=3", (*OWN, "method=ove", "method.sampler=shared", "method.negatives=5"), "method.negatives=5.*has 3 classes, so at most 3", files={"own.txt": THREE}),
    settings("3 other classes of K=3", (*OWN, "method.negatives=3"), "method.negatives=3.*has 3 classes, so at most 2", files={"own.txt": THREE}),
    settings(
        "best classes of one that tells one alone",
        ("method=recall_tree", "evaluation.top_k=5"),
        "evaluation.top_k=5.*recall_tree.*leave out",
    ),
    settings("more best classes than there are", ("evaluation.top_k=11",), "evaluation.top_k=11.*10"),
    settings("impossible sampling", ("method.sampler=shared",), "method.sampler.*others"),
    settings("fewer rows than classes", ("dataset=zipf", "dataset.synthetic.classes=100", "dataset.synthetic.train=50"), "100.*50"),
    settings("division that overflows", (*OWN, "dataset.protocol.divide_by=1e-39"), "divide_by=1e-39 overflow.*larger", files={"own.txt": THREE}),
    settings("syntax", ("method.lr=[1",), r"\[1"),
    settings("syntax of a sweep", ("-m", "method.lr=choice(1"), r"choice\(1"),
    settings("no sign", ("seed",), "seed"),
    settings("sweep without -m", ("seed=0,1",), "seed"),
    settings("empty grid", ("-m", "method.lr="), "method.lr"),
    settings("grid of an empty range", ("-m", "seed=range(3,3)"), "the grid is empty"),
    settings("grid of an empty list", ("-m", "seed=[]"), "seed"),
    settings("swept folder", ("-m", "runs_dir=a,b"), "runs_dir cannot be swept"),
    settings("swept weights", ("-m", "save_weights=true,false"), "save_weights cannot be swept"),
    settings("swept flag", ("-m", "plan=true,false"), "plan cannot be swept"),
    settings("grid outside", ("grid=../outside",), "grid=../outside.*letters"),
    settings("grid without a name", ("grid=",), "grid=.*letters"),
    settings("duplicate points of a grid", ("-m", "method.lr=1,1,1.0", "runs_dir=duplicates"), "the grid has 3 points, of which 1 are different", code=0),
]  # fmt: skip
NAMES = [
    Case("Names of own files", name, words, says, files={path: THREE})
    for name, path, words, says in (
        ("a file called like a dataset", "mnist.txt", (), "dataset.name=mnist is a dataset of the catalogue.*choose another"),
        ("the same in capitals", "MNIST.txt", (), "dataset.name=MNIST is a dataset of the catalogue"),
        ("a name given", "own.txt", ("dataset.name=bibtex",), "dataset.name=bibtex is a dataset of the catalogue"),
        ("called like a twin", "eurlex-twin.txt", (), "'-twin' marks synthetic stand-ins; choose another"),
        ("a bar, a blank and a slash", "own.txt", ("dataset.name='a|b /c'",), "dataset.name=.*letters, digits"),
        ("the folder above", "own.txt", ("dataset.name=..",), "dataset.name=.*begins with a letter"),
        ("a line break", "own.txt", (r'dataset.name="a\nb"',), "dataset.name=.*letters, digits"),
        ("300 letters", "own.txt", ("dataset.name=" + "n" * 300,), "at most 80"),
        ("a file that has no name", ".txt", (), "dataset.name= is not possible"),
    )
    for words in ((*own(path), *words),)
]  # fmt: skip
NAMES += [
    Case("Names of own files", "other files under the name of a dataset",
         ("dataset=eurlex", "dataset.name=wiki10"), "dataset.name=wiki10 is a dataset of the catalogue"),
]  # fmt: skip
