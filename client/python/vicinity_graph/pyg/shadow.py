"""PyG's ShaDow sampler over a graph on servers."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch import Tensor
from torch_geometric.data import Batch as GraphBatch

from ..batch import Batch
from ._batches import SampledBatch, fill_edges
from ._sampling import sampling_of, schema_of
from .loaders import _BatchLoader, _DataLoaderArguments, _input_nodes


class ShaDowKHopSampler(_BatchLoader):
    """torch_geometric.loader.ShaDowKHopSampler over a graph on servers: around each root a graph of
    its own, all edges between the nodes that `depth` hops of num_neighbors have met, -1 being all.
    Its arguments, and its batches: `batch`, `ptr`, `root_n_id`, `edge_index` block by block, the
    attributes of nodes and edges, `y` of the roots alone. Beside them a batch has n_id and, unless
    e_id=False says no, e_id.

    Beyond those of PyG and of torch.utils.data.DataLoader it takes what NeighborLoader takes;
    batches are made ahead by threads of the library. It needs no torch-sparse.
    Errors: ValueError for a heterogeneous graph, as PyG's is for others.
    """

    def __init__(self, data: Any, depth: int, num_neighbors: int, node_idx: Optional[Tensor] = None,
                 replace: bool = False, **kwargs: Any):
        schema = schema_of(data)
        if not schema.homogeneous:
            raise ValueError(f"ShaDowKHopSampler is for homogeneous graphs; this one has the edge types "
                             f"{schema.edge_types}: NeighborLoader has disjoint=True with "
                             "subgraph_type='induced'")
        self.depth = depth
        self.num_neighbors = num_neighbors
        self.replace = replace
        sampling = sampling_of(schema, [num_neighbors] * depth, replace=replace,
                               subgraph_type="induced", disjoint=True, temporal_strategy="uniform",
                               time_attr=None, weight_attr=None, directed=True)
        arguments = _DataLoaderArguments(kwargs)
        node_type, nodes, _ = _input_nodes(schema, data, node_idx, arguments.input_id, disjoint=True)
        self.node_idx = nodes if nodes is not None else \
            schema.to_pyg(node_type, schema.graph.nodes(node_type).torch())
        seeds = None if nodes is None else schema.seeds(node_type, nodes)
        super().__init__(data, sampling, (node_type, seeds), None, arguments, None, None)

    @property
    def dataset(self) -> list:
        """Of the roots, as PyG has it."""
        return self.node_idx.tolist()

    def _data_of(self, batch: Batch) -> Any:
        schema = self._schema
        node_type, edge_type = schema.node_types[0], schema.edge_types[0]
        sampled = SampledBatch(schema, batch)
        # The library has all roots first: here each has its graph's nodes behind it.
        trees, order = torch.sort(sampled.trees(node_type), stable=True)
        place = torch.empty_like(order)
        place[order] = torch.arange(order.numel())
        roots = place[batch.seeds.torch().to(torch.int64)]
        data = GraphBatch(batch=trees, ptr=torch.searchsorted(trees, torch.arange(roots.numel() + 1)))
        data.root_n_id = roots
        data.n_id = sampled.nodes(node_type)[order]
        for attribute in schema.attributes[node_type]:
            rows = attribute.value(sampled.column(node_type, attribute.column))
            chosen = order[roots] if attribute.name == "y" else order
            data[attribute.name] = rows[chosen.to(rows.device)]
        fill_edges(schema, sampled, place[sampled.edge_index(edge_type)], self._arguments.edge_ids, data)
        return data.pin_memory() if self._arguments.pin_memory else data
