"""The day on which the real files arrive: fetched from hosts as they are, measured, judged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest
import yaml

import eurlex_twin
from catalogue import composed
from file_server import Server
from served_toy import tarred, zipped
from workspace import ROOT, Outcome, Workspace

DRIVE = b"""<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body>
<form id="download-form" action="https://drive.usercontent.google.com/download" method="get">
<input type="submit" value="Download anyway"/><input type="hidden" name="confirm" value="t"></form>
</body></html>"""
FETCHED = ("eurlex", "wiki10", "amazoncat", "bibtex", "delicious", "mnist", "20news", "citeulike")
PAPERS = {  # what each measures on EURLex, cut short; and a printed result that must be judged
    "umax": (
        ("grid=table2_code,table3_code", "method=umax,implicit", "method.lr=0.1"),
        ("Eurlex", "U-max", "relative_final_train_log_loss"),
    ),
    "ar": (
        ("grid=table3_large", "method=ove,ar_softmax"),
        ("EURLex-4K", "A&R softmax", "test_accuracy"),
    ),
    "adv": (
        ("grid=table1,appendix_a2,appendix_a2_text", "method=softmax", "method.lr=1"),
        ("EURLex-4K", "full softmax", "test_accuracy"),
    ),
}


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return eurlex_twin.written()


def fetch(workspace: Workspace, *urls: str, folder: str = "Eurlex") -> Outcome:
    """``xcbench data fetch eurlex`` from these addresses instead of those of the catalogue."""
    members = f"{{train: {folder}/eurlex_train.txt, test: {folder}/eurlex_test.txt}}"
    source = f"[{{urls: [{', '.join(map(repr, urls))}], files: {members}}}]"
    return workspace.xcbench("data", "fetch", "eurlex", f"dataset.source.downloads={source}")


def lost(done: Outcome, *mentions: str) -> None:
    """Not fetched, for one reason that is said in one line."""
    assert done.code == 1 and "Traceback" not in done.text, done.text
    (line,) = [it for it in done.err.splitlines() if it.startswith("error: ")]
    assert all(re.search(mention, line) for mention in mentions), done.text


def members(files: Mapping[str, str]) -> str:
    return ", ".join(f"{role}: {member or repr(member)}" for role, member in files.items())


def here(workspace: Workspace) -> bool:
    listed = workspace.xcbench("data", "list").succeeded().out
    return re.search(r"^eurlex\s+(\w+)", listed, re.M)[1] == "here"  # type: ignore[index]


# ---------------------------------------------------------------- hosts
def test_google_drive_sends_elsewhere_and_asks_for_confirmation(
    workspace: Workspace, server: Server, files: dict[str, bytes]
) -> None:
    """The first address answers with a page, as it does when it wants a confirmation."""
    archive = zipped({f"Eurlex/{name}": content for name, content in files.items()})
    page = server.put("download?id=1", DRIVE, kind="text/html; charset=utf-8")
    there = server.put("download?id=1&confirm=t", archive, length=-1)  # as that host does
    away = server.put("uc?export=download&id=1", status=303, location=there)
    done = fetch(workspace, page, away).succeeded()
    assert here(workspace) and "eurlex" in done.out
    assert [path for path, _ in server.asked][-1] == "/download?id=1&confirm=t"


def test_a_page_alone_is_one_sentence(workspace: Workspace, server: Server) -> None:
    page = server.put("download?id=1", DRIVE, kind="text/html; charset=utf-8")
    lost(fetch(workspace, page), "answers with a web page", re.escape(page))
    assert not here(workspace)


def test_a_redirect_in_a_circle_ends(workspace: Workspace, server: Server) -> None:
    round_and_round = f"{server.address}/again"
    server.put("again", status=302, location=round_and_round)
    lost(fetch(workspace, round_and_round), "redirect")


def test_an_archive_that_broke_off_goes_on(
    workspace: Workspace, server: Server, files: dict[str, bytes]
) -> None:
    archive = zipped({f"Eurlex/{name}": content for name, content in files.items()})
    url = server.put("Eurlex.zip", archive, cut=len(archive) // 2)
    lost(fetch(workspace, url), "broke off after", "continues from there")
    assert not here(workspace)
    server.paths["/Eurlex.zip"].cut = None
    fetch(workspace, url).succeeded()
    assert here(workspace) and server.asked[-1] == ("/Eurlex.zip", f"bytes={len(archive) // 2}-")


def test_an_archive_that_ends_early_is_damaged(
    workspace: Workspace, server: Server, files: dict[str, bytes]
) -> None:
    archive = tarred({f"Eurlex/{name}": content for name, content in files.items()})
    lost(fetch(workspace, server.put("Eurlex.tgz", archive[: len(archive) // 2])), "damaged")
    assert not here(workspace)


def test_other_folders_inside_are_no_obstacle(
    workspace: Workspace, server: Server, files: dict[str, bytes]
) -> None:
    members = {f"EUR-Lex.4K/{name.upper()}": content for name, content in files.items()}
    fetch(
        workspace, server.put("x.zip", zipped({**members, "EUR-Lex.4K/readme": b"x"}))
    ).succeeded()
    assert here(workspace)


def test_other_names_inside_are_named_and_can_be_given(
    workspace: Workspace, server: Server, files: dict[str, bytes]
) -> None:
    train, test = files.values()
    url = server.put("x.zip", zipped({"E/train.txt": train, "E/test.txt": test}))
    lost(fetch(workspace, url), r"no files Eurlex/eurlex_train\.txt", r"E/train\.txt, E/test\.txt")
    members = "{train: E/train.txt, test: E/test.txt}"
    given = f"dataset.source.downloads=[{{urls: ['{url}'], files: {members}}}]"
    workspace.xcbench("data", "fetch", "eurlex", given).succeeded()
    assert here(workspace)


def test_another_version_of_the_data_is_refused(
    workspace: Workspace, server: Server, files: dict[str, bytes]
) -> None:
    train = files["eurlex_train.txt"].replace(b"15539 5000", b"15511 5000", 1)  # of another release
    members = {"Eurlex/eurlex_train.txt": train, "Eurlex/eurlex_test.txt": files["eurlex_test.txt"]}
    lost(fetch(workspace, server.put("x.zip", zipped(members))), "15511|15539")
    assert not here(workspace)


@pytest.mark.parametrize("name", FETCHED)
def test_hosts_that_send_pages_leave_nothing(
    workspace: Workspace, server: Server, name: str
) -> None:
    """Each download of the catalogue, from a host that answers everything with a page."""
    page = server.put("page", DRIVE, kind="text/html")
    items = [
        f"{{urls: ['{page}'], files: {{{members(item.files)}}}}}"
        for item in composed(f"dataset={name}").source.downloads
    ]
    words = ("data", "fetch", name, f"dataset.source.downloads=[{', '.join(items)}]")
    lost(workspace.xcbench(*words), "answers with a web page")
    listed = workspace.xcbench("data", "list").succeeded().out
    assert re.search(rf"^{name}\s+missing", listed, re.M)


# ---------------------------------------------------------------- papers
@pytest.fixture(scope="module")
def arrived(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data with the two files, under the names that the catalogue has."""
    folder = tmp_path_factory.mktemp("arrived") / "eurlex"
    folder.mkdir()
    names = yaml.safe_load((ROOT / "conf/dataset/eurlex.yaml").read_text("utf-8"))["files"]
    assert {*names.values()} == {*files}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder.parent


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_measures_and_judges_eurlex(
    workspace: Workspace, arrived: Path, paper: str
) -> None:
    """Nothing is switched on: files of the printed shape are the dataset, not its twin."""
    words, (dataset, method, metric) = PAPERS[paper]
    short = ("seed=0", "budget.epochs=0.2", "budget.checkpoints=1", "mlflow=false", "workers=1")
    reports = workspace.path / "reports"
    done = workspace.xcbench(
        "paper", paper, "dataset=eurlex", *words, *short, f"data_dir={arrived}"
    ).succeeded()
    assert "twin" not in done.out.lower()
    rows = pd.read_csv(reports / paper / "replication.csv", dtype=str, keep_default_na=False)
    key = (rows["dataset"] == dataset) & (rows["method"] == method) & (rows["metric"] == metric)
    (row,) = rows[key].to_dict("records")
    assert row["measured"] and row["verdict"] in ("deviates", "close", "reproduced")
    sizes = rows[(rows["dataset"] == dataset) & (rows["kind"] == "size") & (rows["measured"] != "")]
    assert "15539" in {*sizes["measured"]}
    workspace.xcbench("replication").succeeded()
    page = (reports / "README.md").read_text("utf-8")
    waits = page.split("## What waits for data")[1]
    assert (
        f"paper {paper} dataset=eurlex" not in waits
        or int(
            re.search(rf"\| eurlex +\| +(\d+) \| {paper}", waits)[1]  # type: ignore[index]
        )
        < (rows["dataset"] == dataset).sum()
    )
