"""A graph as PyG's FeatureStore and GraphStore."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import torch
from torch import Tensor
from torch_geometric.data import FeatureStore, GraphStore
from torch_geometric.data.feature_store import TensorAttr
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout

from ._schema import Attribute, Schema

#: What is brought into this process whole at most: bytes of an attribute, edges of a type.
MOST_BYTES = 1 << 30
MOST_EDGES = 1 << 26


class RemoteFeatureStore(FeatureStore):
    """Rows of nodes by PyG's ids, read only.

        store["paper", "x", [3, 7]]        # of the only type: store[None, "x", [3, 7]]

    Errors: KeyError naming what there is; IndexError for ids of no node; ValueError for a whole
            attribute of more than 1 GiB, which get_tensor(index=None) would bring.
    """

    def __init__(self, schema: Schema):
        super().__init__()
        self.__dict__["schema"] = schema

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.schema.graph.description['name']!r})"

    def _group(self, node_type: str) -> Optional[str]:
        return None if self.schema.homogeneous else node_type

    def get_all_tensor_attrs(self) -> List[TensorAttr]:
        """Those that batches bring, new ones each time: PyG writes into them."""
        return [TensorAttr(group_name=self._group(node_type), attr_name=attribute.name)
                for node_type, attributes in self.schema.attributes.items()
                for attribute in attributes]

    def _ids(self, node_type: str, index: Any) -> Tensor:
        num_nodes = self.schema.num_nodes[node_type]
        if isinstance(index, Tensor) and index.dtype == torch.bool:
            return self.schema.of_mask(node_type, index)
        if index is None or isinstance(index, slice):
            return self.schema.everybody(node_type)[index or slice(None)]
        if isinstance(index, int):
            index = [index]
        ids = torch.as_tensor(index)
        if ids.dtype == torch.bool:
            return self.schema.of_mask(node_type, ids)
        negative = ids < 0
        if self.schema.described[node_type]["id_kind"] == "dense" and bool(negative.any()):
            ids = torch.where(negative, ids + num_nodes, ids)
        return ids

    def _rows(self, node_type: str, attribute: Attribute, ids: Tensor) -> Tensor:
        found = self.schema.to_global(node_type, ids)
        graph = self.schema.graph
        fetch = graph.fetch_ragged if attribute.num_columns else graph.fetch
        return attribute.value(fetch(node_type, attribute.column, found.numpy()).torch())

    def _get_tensor(self, attr: TensorAttr) -> Optional[Tensor]:
        node_type = self.schema.node_type(attr.group_name)
        attribute = self.schema.attribute(attr.group_name, attr.attr_name)
        if attr.index is None:
            size = self._get_tensor_size(attr)
            none = self._rows(node_type, attribute, torch.zeros(0, dtype=torch.int64))
            if torch.Size(size).numel() * none.element_size() > MOST_BYTES:
                raise ValueError(f"attribute {attr.attr_name!r} of {node_type!r} is {list(size)}, "
                                 "which stays on its servers: ask for the rows of some nodes, or "
                                 "have a loader bring those of its batches")
        return self._rows(node_type, attribute, self._ids(node_type, attr.index))

    def _multi_get_tensor(self, attrs: List[TensorAttr]) -> List[Optional[Tensor]]:
        return [self._get_tensor(attr) for attr in attrs]

    def _get_tensor_size(self, attr: TensorAttr) -> Tuple[int, ...]:
        node_type = self.schema.node_type(attr.group_name)
        attribute = self.schema.attribute(attr.group_name, attr.attr_name)
        if attribute.num_columns:
            return self.schema.num_nodes[node_type], attribute.num_columns
        column, = [each for each in self.schema.described[node_type]["columns"]
                   if each["name"] == attribute.column]
        return (self.schema.num_nodes[node_type], *column["shape"])

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        raise NotImplementedError("the rows of a graph on servers are read only")

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise NotImplementedError("the rows of a graph on servers are read only")


class RemoteGraphStore(GraphStore):
    """Edges by PyG's ids, read only. They stay where they are: get_edge_index brings those of a type
    that has up to 64 Mi, and refuses others (ValueError)."""

    def __init__(self, schema: Schema):
        super().__init__()
        self.__dict__["schema"] = schema

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.schema.graph.description['name']!r})"

    def get_all_edge_attrs(self) -> List[EdgeAttr]:
        """Of every edge type, with its size."""
        return [EdgeAttr(edge_type=None if self.schema.homogeneous else edge_type,
                         layout=EdgeLayout.COO,
                         size=(self.schema.num_nodes[edge_type[0]],
                               self.schema.num_nodes[edge_type[2]]))
                for edge_type in self.schema.edge_types]

    def _get_edge_index(self, edge_attr: EdgeAttr) -> Optional[Tuple[Tensor, Tensor]]:
        if edge_attr.layout != EdgeLayout.COO:
            return None
        sources, targets = whole_edge_index(self.schema, self.schema.edge_type(edge_attr.edge_type))
        return sources, targets

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        raise NotImplementedError("the edges of a graph on servers are read only")

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        raise NotImplementedError("the edges of a graph on servers are read only")


def whole_edge_index(schema: Schema, edge_type: Tuple[str, str, str]) -> Tensor:
    """All edges of a type by PyG's ids, int64 [2, num_edges], in the order of their edge ids."""
    source_type, _, target_type = edge_type
    name = schema.edge_name(edge_type)
    everybody = schema.graph.nodes(target_type).numpy()
    num_edges = int(schema.graph.degrees(name, everybody).torch().sum())
    if num_edges > MOST_EDGES:
        raise ValueError(f"edge type {edge_type} has {num_edges} edges, which stay on their servers: "
                         "loaders sample them there, and LinkNeighborLoader takes a list of links")
    fanouts = [[-1 if each == edge_type else 0 for each in schema.edge_types]]
    batch = schema.graph.sample(target_type, everybody, fanouts, edge_ids=True)
    index, ids = batch.edge_index(name).torch(), batch.edge_ids(name).torch()
    order = ids.argsort(stable=True)
    ends = [schema.to_pyg(node_type, batch.nodes(node_type).torch())[positions]
            for node_type, positions in zip((source_type, target_type), index)]
    return torch.stack(ends)[:, order]
