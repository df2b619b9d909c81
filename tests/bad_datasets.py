"""Bad files of datasets, of the user's own, and of rows to predict."""

from __future__ import annotations

import resource

from bad_case import THREE, Case
from bad_files import HTML, PNG
from bad_settings import own
from toy_files import TEST, TRAIN

GIB = 2**30


def rubbish(words: tuple[str, ...], path: str) -> Case:
    return Case("Files of datasets", f"{path.rpartition('/')[2]} is another file", words,
                rf"{path} is not the expected file: the SHA-256.*get the file again",
                {path: HTML, path.replace("train", "test"): HTML})  # fmt: skip


HUGE = b"0 1:1\n1 2147483646:1\n"
DATASETS = [
    rubbish(("dataset=bibtex", "data_dir=html"), "html/bibtex/bibtex-train.arff"),
    Case("Files of datasets", "files that are not there", ("dataset=eurlex", "dataset.missing=error"),
         "eurlex_train.txt, eurlex_test.txt not found in.*put the files there"),
    Case("Files of datasets", "another version", ("dataset=eurlex", "data_dir=other"),
         "dataset.expected.train is 15539, but 5 found; this is another version",
         {"other/eurlex_train.txt": TRAIN, "other/eurlex_test.txt": TEST}),
    Case("Files of datasets", "name too long to be looked up",
         ("dataset=eurlex", "dataset.name=toy", "dataset.files.test=" + "x" * 300), "x cannot be looked up"),
    Case("Own files", "no file", ("dataset=file",), "needs dataset.train=PATH"),
    Case("Own files", "no test file", ("dataset=file", "dataset.train=own.txt"),
         "needs dataset.test=PATH; or draw.*split=random", {"own.txt": THREE}),
    Case("Own files", "not there", own("nowhere.txt"), "there is no file .*/nowhere.txt; correct the path"),
    Case("Own files", "a folder", own("."), "there is no file .*; correct the path"),
    Case("Own files", "files for a dataset of the catalogue",
         ("dataset=bibtex", "dataset.train=own.txt"), "add dataset=file", {"own.txt": THREE}),
    Case("Own files", "feature 2147483646, with 6 GiB of memory", own("huge.txt"),
         "huge.txt, line 2: feature 2147483646 needs about 48.0 GiB of memory, of which .* are available; hash the features with features=1048576 ", {"huge.txt": HUGE},
         limits=((resource.RLIMIT_AS, 6 * GIB),)),
    *(Case("Rows for `xcbench predict`", f"rows-{number}.txt: {ascii(content[:44])[1:]}",
           ("predict", "{cell}", f"rows-{number}.txt"), rf"rows-{number}.txt{says}",
           {f"rows-{number}.txt": content}, "xcbench")
      for number, (content, says) in enumerate([
          (b"", " has no rows; give"),
          (b"2 64 10\n1 0:1\n", " has 1 rows, its header says 2"),
          (b"2 65 10\n1 0:1\n1 2:1\n", ", line 1: the header says 65 features.*trained on 64; give"),
          (b"1 " + b"9" * 5000 + b" 3\n0 0:1\n", ", line 1: '9999.* is not a pair.*; mend"),
          (b"1 0:1\n1,2 64:1\n", ", line 2: feature '64' is out of range.*; mend"),
          (b"0:1\n0:1 nonsense\n", ", line 2: 'nonsense' is not a pair.*; mend"),
          (b"0:1\n3 0:nan\n", ", line 2: '0:nan' is not a pair.*; mend"),
          (b"0:1\nspam 0:1\n", ", line 2: 'spam' is neither.*; mend"),
          (HTML, ", line 1: '<!DOCTYPE' is neither.*; mend"),
          (b"0:1 0:2\n", ", line 1: feature 0 is given twice; mend"),
          (b"0:1e99\n", ", line 1: '0:1e99' is too large.*; mend"),
          (b"\0\1\2 \xff\n", ", line 1: .* is neither.*; mend"),
          (PNG, ", line 1: .* is neither.*; mend"),
      ], start=1)),
]  # fmt: skip
