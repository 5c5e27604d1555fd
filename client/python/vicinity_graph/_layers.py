"""A batch as message-flow graphs have it, without the library that computes on them."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

import torch
from torch import Tensor

from .batch import Batch, Block


class Edges(NamedTuple):
    """Of one type: target i has sources[offsets[i]] .. sources[offsets[i + 1] - 1]."""

    offsets: Tensor  # int64 [targets of its type + 1]
    sources: Tensor  # int64 [num_edges], positions among the nodes of the source type
    ids: Optional[Tensor]  # int64 [num_edges], positions in the user's input


class Layer(NamedTuple):
    """One hop. By node type, its targets are the first num_targets of the batch's nodes, its sources
    the first num_sources, which have the targets among them; edges of every type there is."""

    num_targets: Dict[str, int]
    num_sources: Dict[str, int]
    edges: Dict[str, Edges]


def layers(batch: Batch, edge_ids: bool) -> List[Layer]:
    """The outermost hop first. ValueError of a batch whose hops expand new nodes alone, or that is
    induced; NotFound if edge ids are asked for and the batch has none."""
    ends = {each: batch.hop_ends(each).tolist() for each in batch.node_types}
    found = {(block.hop, block.edge_type): block for block in batch.blocks}
    made = []
    for hop in reversed(range(batch.num_hops)):
        num_targets = {each: ends[each][hop] for each in batch.node_types}
        num_sources = {each: ends[each][hop + 1] for each in batch.node_types}
        made.append(Layer(num_targets, num_sources, {
            edge_type: _edges(found.get((hop, edge_type)), num_targets[edge_type.split(":")[2]],
                              edge_ids)
            for edge_type in batch.edge_types}))
    return made


def _edges(block: Optional[Block], num_targets: int, edge_ids: bool) -> Edges:
    if block is None:  # the type is not followed in this hop
        none = torch.empty(0, dtype=torch.int64)
        return Edges(torch.zeros(num_targets + 1, dtype=torch.int64), none,
                     none if edge_ids else None)
    if (block.first_target, block.num_targets) != (0, num_targets):
        raise ValueError(
            f"hop {block.hop} has edges of {block.num_targets} of its {num_targets} nodes of type "
            f"{block.target_type!r}, since it was sampled with expansion=\"new_nodes\" or "
            "subgraph=\"induced\"; message-flow graphs have those of all nodes that were known before: "
            "say expansion=\"all_nodes\", subgraph=\"directional\", the defaults")
    return Edges(block.offsets.torch(), block.sources.torch().to(torch.int64),
                 block.edge_ids.torch() if edge_ids else None)
