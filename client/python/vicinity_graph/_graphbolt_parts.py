"""Batches in GraphBolt's terms: what its samplers and its loader share."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from dgl import graphbolt
from torch import Tensor

from ._layers import Layer, layers
from .batch import Batch
from .graph import Graph


def homogeneous(graph: Graph) -> bool:
    """Of one node and one edge type: GraphBolt then names none."""
    return len(graph.node_types) == 1 and len(graph.edge_types) == 1


def plain(graph: Graph, by_type: Dict[str, Any]) -> Any:
    """Of a homogeneous graph the only value."""
    return next(iter(by_type.values())) if homogeneous(graph) else by_type


def subgraphs(graph: Graph, batch: Batch, edge_ids: bool) -> Tuple[Any, List[Any]]:
    """Input nodes, and a SampledSubgraph a layer, the outermost first."""
    nodes = {each: batch.nodes(each).torch() for each in batch.node_types}
    return plain(graph, nodes), [_subgraph(graph, layer, nodes, edge_ids)
                                 for layer in layers(batch, edge_ids)]


def _subgraph(graph: Graph, layer: Layer, nodes: Dict[str, Tensor], edge_ids: bool) -> Any:
    edges = {edge_type: graphbolt.CSCFormatBase(indptr=each.offsets, indices=each.sources)
             for edge_type, each in layer.edges.items()}
    ids = {edge_type: each.ids for edge_type, each in layer.edges.items()}
    return graphbolt.SampledSubgraphImpl(
        sampled_csc=plain(graph, edges),
        original_column_node_ids=plain(
            graph, {each: ids[:layer.num_targets[each]] for each, ids in nodes.items()}),
        original_row_node_ids=plain(
            graph, {each: ids[:layer.num_sources[each]] for each, ids in nodes.items()}),
        original_edge_ids=plain(graph, ids) if edge_ids else None)


def check_distinct(batch: Batch, seeds: Dict[str, Tensor]) -> None:
    """ValueError for a seed that is twice in a batch, which has it once."""
    for node_type, ids in seeds.items():
        if batch.hop_ends(node_type).tolist()[0] != ids.numel():
            values, counts = ids.unique(return_counts=True)
            raise ValueError(f"a minibatch has node {values[counts > 1][0].item()} of type "
                             f"{node_type!r} among its seeds more than once")
