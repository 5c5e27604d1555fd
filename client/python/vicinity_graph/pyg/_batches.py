"""From a batch of the library to what PyG has of one: its sampler's output, its Data."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

from ..batch import Batch
from ._sampling import Sampling
from ._schema import EdgeType, Schema


class SampledBatch:
    """One batch by PyG's names. What it gives are tensors that share the library's memory, each made
    once."""

    def __init__(self, schema: Schema, batch: Batch):
        self._schema = schema
        self._batch = batch
        self._columns: Dict[Tuple[str, str], Tensor] = {}

    @property
    def batch(self) -> Batch:
        """The library's own."""
        return self._batch

    def nodes(self, node_type: str) -> Tensor:
        """PyG's ids of the nodes of a type, seeds first: int64 [n]."""
        if self._schema.has_names(node_type):
            return self._batch.nodes(node_type).torch()
        return self._batch.user_ids(node_type).torch()

    def trees(self, node_type: str) -> Tensor:
        """Of a disjoint sample: of each node its seed, int64 [n]."""
        return self._batch.trees(node_type).torch().to(torch.int64)

    def num_sampled_nodes(self, node_type: str) -> list:
        """Seeds, then what each hop met first."""
        ends = self._batch.hop_ends(node_type).tolist()
        return [end - begin for begin, end in zip([0, *ends], ends)]

    def num_sampled_edges(self, edge_type: EdgeType) -> list:
        """Of each hop."""
        counts = [0] * self._batch.num_hops
        name = self._schema.edge_name(edge_type)
        for block in self._batch.blocks:
            if block.edge_type == name:
                counts[block.hop] += block.num_edges
        return counts

    def edge_index(self, edge_type: EdgeType) -> Tensor:
        """int64 [2, num_edges]."""
        return self._batch.edge_index(self._schema.edge_name(edge_type)).torch()

    def edge_ids(self, edge_type: EdgeType) -> Tensor:
        """int64 [num_edges]."""
        return self._batch.edge_ids(self._schema.edge_name(edge_type)).torch()

    def column(self, node_type: str, name: str) -> Tensor:
        """Of the nodes of a type."""
        key = node_type, name
        if key not in self._columns:  # in device memory it is given out once
            ragged = self._batch.ragged.get(key)
            self._columns[key] = (self._batch.column(name, node_type) if ragged is None else ragged).torch()
        return self._columns[key]

    def edge_column(self, edge_type: EdgeType, name: str) -> Optional[Tensor]:
        """Of the sampled edges of a type; None where none were asked for in any hop."""
        parts = [tensor.torch() for (_, of_type, column), tensor in self._batch.edge_columns.items()
                 if (of_type, column) == (self._schema.edge_name(edge_type), name)]
        return torch.cat(parts) if parts else None


def sampler_output(schema: Schema, sampled: SampledBatch, edge_ids: bool,
                   sampling: Sampling) -> Any:
    """A SamplerOutput, or of a heterogeneous graph a HeteroSamplerOutput, without metadata."""
    nodes = {each: sampled.nodes(each) for each in schema.node_types}
    index = {each: sampled.edge_index(each) for each in schema.edge_types}
    edges = {each: sampled.edge_ids(each) if edge_ids else None for each in schema.edge_types}
    trees = {each: sampled.trees(each) for each in schema.node_types} \
        if sampling.disjoint else None
    num_nodes = num_edges = None  # as PyG's of an induced sample, whose edges are of no hop
    if not sampling.induced:
        num_nodes = {each: sampled.num_sampled_nodes(each) for each in schema.node_types}
        num_edges = {each: sampled.num_sampled_edges(each) for each in schema.edge_types}
    if not schema.homogeneous:
        return HeteroSamplerOutput(
            node=nodes, row={each: ends[0] for each, ends in index.items()},
            col={each: ends[1] for each, ends in index.items()}, edge=edges, batch=trees,
            num_sampled_nodes=num_nodes, num_sampled_edges=num_edges)
    node_type, edge_type = schema.node_types[0], schema.edge_types[0]
    return SamplerOutput(
        node=nodes[node_type], row=index[edge_type][0], col=index[edge_type][1],
        edge=edges[edge_type], batch=trees and trees[node_type],
        num_sampled_nodes=num_nodes and num_nodes[node_type],
        num_sampled_edges=num_edges and num_edges[edge_type])


def turned_round(schema: Schema, out: HeteroSamplerOutput) -> HeteroSamplerOutput:
    """Of a sample along the lists of reversed edges: its edges by the types that they are the reverse
    of, from source to target."""

    def of_reverse(values: Any) -> Any:
        return values and {each: values[schema.reverse_types.get(each, each)]
                           for each in schema.edge_types}

    return HeteroSamplerOutput(
        node=out.node, row=of_reverse(out.col), col=of_reverse(out.row), edge=of_reverse(out.edge),
        batch=out.batch, num_sampled_nodes=out.num_sampled_nodes,
        num_sampled_edges=of_reverse(out.num_sampled_edges))


def fill(schema: Schema, sampled: SampledBatch, out: Any, data: Any) -> Any:
    """Puts a sample and the attributes of its nodes and edges into a Data or HeteroData."""
    for node_type in schema.node_types:
        store = data if schema.homogeneous else data[node_type]
        nodes = out.node if schema.homogeneous else out.node[node_type]
        store.num_nodes = nodes.numel()
        for attribute in schema.attributes[node_type]:
            store[attribute.name] = attribute.value(sampled.column(node_type, attribute.column))
        store.n_id = nodes
    for edge_type in schema.edge_types:
        _fill_edges(schema, sampled, out, edge_type, data if schema.homogeneous else data[edge_type])
    if schema.homogeneous:
        data.batch = out.batch
        data.num_sampled_nodes = out.num_sampled_nodes
        data.num_sampled_edges = out.num_sampled_edges
        return data
    data.set_value_dict("batch", out.batch)
    data.set_value_dict("num_sampled_nodes", out.num_sampled_nodes)
    data.set_value_dict("num_sampled_edges", out.num_sampled_edges)
    return data


def _fill_edges(schema: Schema, sampled: SampledBatch, out: Any, edge_type: EdgeType,
                store: Any) -> None:
    def part(values: Any) -> Any:
        return values if schema.homogeneous or values is None else values[edge_type]

    row, col, ids = part(out.row), part(out.col), part(out.edge)
    whole = sampled.edge_index(edge_type) if out.orig_row is None else None
    store.edge_index = whole if whole is not None and whole.size(1) == row.numel() \
        else torch.stack([row, col])
    if out.orig_row is not None:
        store._orig_edge_index = torch.stack([part(out.orig_row), part(out.orig_col)])
    if ids is not None:
        store.e_id = ids
    if out.orig_row is None:
        for attribute in schema.edge_attributes[edge_type]:
            rows = sampled.edge_column(edge_type, attribute.column)
            if rows is not None:
                store[attribute.name] = attribute.value(rows)


def fill_edges(schema: Schema, sampled: SampledBatch, ends: Tensor, edge_ids: bool,
               data: Any) -> None:
    """Puts the edges of a homogeneous batch, whose ends are among data.n_id, and their attributes into
    a Data, by source, then by target."""
    edge_type = schema.edge_types[0]
    order = torch.sort(ends[0] * data.n_id.numel() + ends[1], stable=True).indices
    data.edge_index = ends[:, order]
    if edge_ids:
        data.e_id = sampled.edge_ids(edge_type)[order]
    for attribute in schema.edge_attributes[edge_type]:
        rows = sampled.edge_column(edge_type, attribute.column)
        if rows is not None:
            data[attribute.name] = attribute.value(rows)[order]


def new_data(schema: Schema, custom_cls: Any) -> Any:
    """An empty one."""
    if custom_cls is not None:
        return custom_cls()
    return Data() if schema.homogeneous else HeteroData()
