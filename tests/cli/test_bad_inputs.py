"""Every bad input of the table: one readable sentence, and what was finished stays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

import bad_inputs
from bad_case import Case, NotPossible, Tried
from bad_files import REMEDY
from bad_inputs import CASES
from good_files import FORMATS
from workspace import NewWorkspace, Workspace

OF_A_GROUP = 3
TEST = "test_bad_input_is_one_sentence"
OF_FILES = {*FORMATS, "Compressed files"}


def _by_group() -> Iterator[object]:
    """All cases; those beyond the first few of a group are slow together."""
    seen: Counter[str] = Counter()
    for case in CASES:
        seen[case.group] += 1
        slow = [pytest.mark.slow] if seen[case.group] > OF_A_GROUP else []
        yield pytest.param(case, marks=slow, id=case.label)


@pytest.fixture(scope="module")
def tried(
    new_workspace: NewWorkspace, request: pytest.FixtureRequest
) -> Iterator[dict[str, Future[Tried]]]:
    tests = [item for item in request.session.items if item.name.startswith(f"{TEST}[")]
    cases = [item.callspec.params["case"] for item in tests]  # type: ignore[attr-defined]
    with bad_inputs.attempts(new_workspace("bad"), cases) as began:
        yield began


def test_cases_have_names_of_their_own() -> None:
    assert [
        name for name, number in Counter(case.label for case in CASES).items() if number > 1
    ] == []


@pytest.mark.parametrize("form", FORMATS)
def test_good_files_run_with_the_same_command(
    tried: object, workspace: Workspace, form: str
) -> None:
    done = bad_inputs.good(workspace, form)
    assert done.code == 0, done.text


@pytest.mark.parametrize("case", list(_by_group()))
def test_bad_input_is_one_sentence(tried: dict[str, Future[Tried]], case: Case) -> None:
    try:
        result = tried[case.label].result()
    except NotPossible as reason:
        pytest.skip(str(reason))
    done, before, after = result.done, result.before, result.after
    assert {name: after.get(name) for name in before} == before  # what was finished stays
    if case.code != 2:  # the other points have run
        assert done.code == case.code, done.text
        assert len(after) > len(before)
        assert "Traceback" not in done.text, done.text
        assert len(re.findall(case.says, done.out + done.err)) == 1, done.text
        assert done.err.count("\n") <= 1, done.text
        return
    done.refused(case.says)
    assert set(after) == set(before), "something looks finished"
    assert case.begun or done.out == "", done.text
    if case.group in OF_FILES:
        assert re.search(REMEDY, done.err), done.text


@pytest.mark.parametrize("label", ["Settings: rate that is no number", "svmlight: 4. "])
def test_a_fresh_interpreter_says_the_same(
    tried: dict[str, Future[Tried]], workspace: Workspace, label: str
) -> None:
    (case,) = (case for case in CASES if case.label.startswith(label))
    bad_inputs.write(workspace, case)
    workspace.run_fresh(*case.command()).refused(case.says)
    assert not workspace.cells()
