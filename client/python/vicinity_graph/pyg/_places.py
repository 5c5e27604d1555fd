"""Where in training a batch stands, which it takes along: for the state behind it."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch_geometric.data.data import BaseData

# PyG keeps attributes with an underscore beside those that a batch has: no keys() and no collate tells
# of them, and copies, devices and pickles take them along.
_ATTRIBUTE = "_vicinity_place"


class Place(NamedTuple):
    """Behind a batch: its epoch, and how many of that epoch's all trainers are through with."""

    epoch: int
    batches_done: int


def keep_place(data: Any, run_seed: int, place: Place) -> Any:
    """The batch, which from now on knows both. What a transform made of one may be anything: that does
    not."""
    if isinstance(data, BaseData):
        setattr(data, _ATTRIBUTE, (run_seed, *place))
    return data


def place_of(data: Any, run_seed: int) -> Place:
    """ValueError for what keep_place() did not get, or with another run_seed."""
    kept = getattr(data, _ATTRIBUTE, None) if isinstance(data, BaseData) else None
    if kept is None:
        raise ValueError(f"this {type(data).__name__} is no batch that a loader of vicinity_graph.pyg "
                         "made in a pass: what a transform makes that is neither Data nor HeteroData, "
                         "and what the call of a loader samples, has no place in training")
    if kept[0] != run_seed:
        raise ValueError(f"the batch is of a loader with run_seed {kept[0]}; this one has {run_seed}")
    return Place(*kept[1:])
