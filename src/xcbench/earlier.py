"""Cells of earlier versions, without a checksum: their settings must give their identity."""

from __future__ import annotations

from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from xcbench import cells, config, door, planning, registry, samplers
from xcbench.cells import Cell


def check(cell: Cell) -> None:
    """Compare the identity with that of the settings.

    What others wrote is not imported to read a cell: where the method or sampler is from outside,
    only that it is announced, or a target, can be looked up.

    Raises
    ------
    ValueError
        If the identity is another one.
    """
    method = registry.own().get(cell.method)
    sampling = cell.config["method"].get("sampling", "")
    outside = (
        method is None and _elsewhere("method", cell.launch.get("method_target", cell.method))
    ) or (sampling and sampling not in _samplings() and _elsewhere("sampler", sampling))
    if outside:
        return
    if method is None:
        raise ValueError(f"it has no checksum, and there is no method {cell.method}")
    parts = cell.config
    settings = config.Config(
        dataset=config.Dataset(protocol=_typed(config.Protocol, parts["dataset"]["protocol"])),
        method=_typed(method.schema, parts["method"]),
        budget=_typed(config.Budget, parts["budget"]),
        evaluation=_typed(config.Evaluation, parts["evaluation"]),
        seed=parts["seed"],
        dtype=parts["dtype"],
    )
    content = planning.content(settings, cell.dataset, cell.dataset_digest, cell.engine)
    if cells.identity({**content, "version": cell.method_version}) != cell.cell:
        raise ValueError("its settings are not those of its identity")


def _typed(schema: Any, values: dict[str, Any]) -> Any:
    """Settings of a schema, nested ones too; those newer than the cell have their defaults."""
    try:
        return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(schema), values))
    except OmegaConfBaseException as error:
        raise ValueError(str(error).splitlines()[0]) from None


def _samplings() -> set[str]:
    return {"all", *samplers.OWN, *samplers.NOISES}


def _elsewhere(kind: str, reference: str) -> bool:
    return door.is_target(reference) or reference in door.announced(kind)
