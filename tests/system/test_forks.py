"""Calls side by side in forked processes."""

import multiprocessing
import os
import sys

import pytest

from xcbench.system import forks

several = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs two cores of Linux"
)


def test_results_come_in_the_order_of_the_items_whatever_the_function_is():
    offset = 10
    assert forks.each(lambda it: it() + offset, [lambda n=n: n for n in range(7)]) == [
        *range(10, 17)
    ]
    assert forks.each(len, []) == []


@several
def test_several_items_have_processes_of_their_own_and_one_has_none():
    parent = os.getpid()
    assert parent not in forks.each(lambda _: os.getpid(), range(4))
    assert forks.each(lambda _: os.getpid(), [0]) == [parent]


def test_what_fails_is_raised():
    with pytest.raises(ZeroDivisionError):
        forks.each(lambda n: 1 / n, [1, 0, 2])


@several
def test_a_daemon_which_may_have_no_processes_does_it_all_itself():
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()

    def serve() -> None:
        theirs.send({*forks.each(lambda _: os.getpid(), range(4))})

    daemon = fork.Process(target=serve, daemon=True)
    daemon.start()
    theirs.close()
    assert ours.recv() == {daemon.pid}
    daemon.join()
