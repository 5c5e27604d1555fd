"""Batches as DGL's message-flow graphs.

    from vicinity_graph.dgl import blocks

    loader = graph.loader([15, 10], batch_size=1024, columns=[("paper", "features")])
    for batch in loader:
        out = model(blocks(batch), batch.column("features").torch())

Needs DGL on PyTorch, which is not imported before blocks() is called.
"""

from __future__ import annotations

from typing import Any, List

import torch
from torch import Tensor

from ._layers import Layer, layers
from .batch import Batch


def blocks(batch: Batch, *, user_ids: bool = False, edge_ids: bool = False) -> List[Any]:
    """A DGLBlock for each hop, in the order in which a model's layers take them: blocks[0] is the
    outermost one, whose source nodes are the batch's nodes, as rows of its columns are; the
    destination nodes of blocks[-1] are the seeds, each once, where batch.seeds says.

    All have all node and edge types, in host memory: move them by DGL's block.to(device).
    srcdata[dgl.NID], dstdata[dgl.NID] are global ids; with user_ids=True those of the import, but of
        types whose ids are strings. The loader needs user_ids=True, too.
    edata[dgl.EID] are there with edge_ids=True, places in the import. So the loader, too.
    Errors: ValueError of a batch that was sampled with expansion="new_nodes" or
            subgraph="induced".
    """
    nodes = {each: _ids(batch, each, user_ids) for each in batch.node_types}
    return [_block(layer, nodes) for layer in layers(batch, edge_ids)]


def _ids(batch: Batch, node_type: str, user_ids: bool) -> Tensor:
    if user_ids and not batch.has_names(node_type):
        return batch.user_ids(node_type).torch()
    return batch.nodes(node_type).torch()


def _block(layer: Layer, nodes: Any) -> Any:
    import dgl  # pylint: disable=import-outside-toplevel,import-self

    none = torch.empty(0, dtype=torch.int64)  # edges are numbered as they come
    block = dgl.create_block({tuple(edge_type.split(":")): ("csc", (edges.offsets, edges.sources, none))
                              for edge_type, edges in layer.edges.items()},
                             num_src_nodes=layer.num_sources, num_dst_nodes=layer.num_targets)
    for node_type, ids in nodes.items():
        block.srcnodes[node_type].data[dgl.NID] = ids[:layer.num_sources[node_type]]
        block.dstnodes[node_type].data[dgl.NID] = ids[:layer.num_targets[node_type]]
    for edge_type, edges in layer.edges.items():
        if edges.ids is not None:
            block.edges[tuple(edge_type.split(":"))].data[dgl.EID] = edges.ids
    return block
