"""The two variants of the augment-and-reduce paper, as far as they concern methods."""

from __future__ import annotations

import pytest
from hydra import compose

from xcbench.methods import registry
from xcbench.run import composing, sweeps

FIVE = ("softmax", "ove", "ar_softmax", "ar_probit", "ar_logistic")


@pytest.mark.parametrize("variant", ["paper", "code"])
def test_readings_of_the_methods(variant: str) -> None:
    text = variant == "paper"
    with sweeps.hydra({}):
        for name in FIVE:
            words = [f"variant=ar/{variant}", "dataset=digits", f"method={name}"]
            own = composing.read(compose("config", overrides=words)).method
            shared = (own.optimizer, own.lr, own.lr_decay, own.init, own.order, own.l2, own.bias)
            assert shared == ("ar", 0.02, 0.9, "normal", "shuffled", 0.0, True)
            assert own.accumulator == ("all" if text else "touched")
            if name in ("softmax", "ove"):
                assert own.solver == "minibatch"
            if name != "softmax":
                assert own.sampler == "others"
            if name.startswith("ar_"):
                assert own.local_clock == ("iterations" if text else "epochs")
            if name == "ar_softmax":
                assert (own.eta0, own.local_lr) == (2.0, 1.0)
            if name in ("ar_probit", "ar_logistic"):
                assert own.local_lr == (0.01 if text else 0.001)
                assert own.entropy is text
            assert isinstance(own, registry.builtin()[name].schema)
