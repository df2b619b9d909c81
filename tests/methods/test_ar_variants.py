"""The two variants of the augment-and-reduce paper, as far as they concern methods."""

from __future__ import annotations

import pytest
from hydra import compose

from xcbench.config import composing
from xcbench.methods import registry
from xcbench.plan import sweeps

FIVE = ("softmax", "ove", "ar_softmax", "ar_probit", "ar_logistic")


@pytest.mark.parametrize("variant", ["paper", "code"])
def test_readings_of_the_methods(variant: str) -> None:
    text = variant == "paper"
    with sweeps.hydra({}):
        for name in FIVE:
            words = [f"variant=ar/{variant}", "dataset=digits", f"method={name}"]
            method = composing.read(compose("config", overrides=words)).method
            shared = (
                method.optimizer,
                method.lr,
                method.lr_decay,
                method.init,
                method.order,
                method.l2,
                method.bias,
            )
            assert shared == ("ar", 0.02, 0.9, "normal", "shuffled", 0.0, True)
            assert method.accumulator == ("all" if text else "touched")
            if name in ("softmax", "ove"):
                assert method.solver == "minibatch"
            if name != "softmax":
                assert method.sampler == "others"
            if name.startswith("ar_"):
                assert method.local_clock == ("iterations" if text else "epochs")
            if name == "ar_softmax":
                assert (method.eta0, method.local_lr) == (2.0, 1.0)
            if name in ("ar_probit", "ar_logistic"):
                assert method.local_lr == (0.01 if text else 0.001)
                assert method.entropy is text
            assert isinstance(method, registry.builtin()[name].schema)
