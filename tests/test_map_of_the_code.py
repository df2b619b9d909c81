"""The map in docs/development.md: rooms in the order of their imports, and the way of a cell."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from workspace import ROOT

TEXT = (ROOT / "docs" / "development.md").read_text("utf-8")
SOURCE = ROOT / "src" / "xcbench"
TRACED = """
import sys
reached = []
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and "xcbench" in code.co_filename and code.co_name in NAMES:
        if code.co_filename not in reached:
            reached.append(code.co_filename)
NAMES = {"main", "launch", "run", "jobs"}
sys.argv = ["run.py", "-m", "dataset=digits", "method=umax", "budget.epochs=1", "mlflow=false"]
from xcbench.cli import launch
sys.setprofile(note)
try:
    launch.main()
finally:
    sys.setprofile(None)
    print("\\n".join(reached), file=sys.stderr)
"""


def blocks() -> list[str]:
    return re.findall(r"```text\n(.*?)```", TEXT, flags=re.DOTALL)


def test_rooms_stand_in_the_order_in_which_they_import() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (it["layers"] for it in config["contracts"] if it["type"] == "layers")
    order = [re.findall(r"xcbench\.(\w+)", layer) for layer in layers]
    place = {name: number for number, names in enumerate(order) for name in names}
    rooms = [re.match(r"([a-z ]+?)(?:  |$)", line)[1].split() for line in blocks()[0].splitlines()]
    listed = [name for names in rooms for name in names]
    assert [place[name] for name in listed] == sorted(place[name] for name in listed)
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert folders - {"estimators"} <= set(listed)


def test_a_cell_crosses_the_files_of_the_map_in_their_order(tmp_path: Path) -> None:
    way = re.findall(r"\w+/\w+\.py", blocks()[1])
    done = subprocess.run(
        [sys.executable, "-c", TRACED],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    reached = [Path(line) for line in done.stderr.splitlines() if line.endswith(".py")]
    names = ["/".join(path.parts[-2:]) for path in reached]
    assert names == way, done.stderr
