"""A graph on servers in the place of torch_geometric.data.Data or HeteroData."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import Tensor

from ..graph import Graph
from ._schema import MASKS, SPLITS, Attributes, EdgeType, Schema
from .stores import RemoteFeatureStore, RemoteGraphStore


def connect(where: Any, *, attrs: Attributes = None, edge_attrs: Attributes = None,
            heterogeneous: Optional[bool] = None, **options: Any) -> RemoteGraph:
    """Opens a graph: `where` is a cluster file, or the directory of a dataset on this machine.

    attrs, edge_attrs: which attributes batches bring: names, or names by type; None: all there are.
        An attribute is a column of its own name, but that the label column (without one, the target
        column) is `y`, the column `features`, or the only one that is left, is `x`, and the split
        column is train_mask, val_mask and test_mask.
    heterogeneous: whether batches are HeteroData; None: where there is more than one node or edge
        type.
    options: those of vicinity_graph.Graph, as credentials=..., local_shards=...
    """
    path = os.fspath(where)
    kind = "directory" if os.path.isdir(path) else "cluster_file"
    graph = Graph(**{kind: path}, **options)
    return RemoteGraph(graph, attrs, edge_attrs, heterogeneous)


class RemoteColumn:
    """An attribute that stays where it is: indexed, it is a torch.Tensor with the rows of these nodes.

        data.x[batch.n_id]                  # by ids, a mask, a slice
    """

    def __init__(self, store: RemoteFeatureStore, group: Optional[str], name: str):
        self._store = store
        self._key = group, name
        self.shape = torch.Size(store.get_tensor_size(group_name=group, attr_name=name, index=None))

    def __getitem__(self, index: Any) -> Tensor:
        group, name = self._key
        rows = self._store.get_tensor(group_name=group, attr_name=name, index=index)
        return rows[0] if isinstance(index, int) else rows

    def __len__(self) -> int:
        return self.shape[0]

    def size(self, dim: Optional[int] = None) -> Any:
        """As of a tensor."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """As of a tensor."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"RemoteColumn({self._key[1]}={list(self.shape)})"


class NodeView:
    """What a node type has, under the names of PyG: data["paper"].x, .train_mask, .num_nodes."""

    def __init__(self, data: RemoteGraph, node_type: str):
        self._data = data
        self._type = node_type

    @property
    def num_nodes(self) -> int:
        """How many there are."""
        return self._data.schema.num_nodes[self._type]

    @property
    def num_features(self) -> int:
        """Of each row of x; 0 without one."""
        names = [each.name for each in self._data.schema.all_attributes[self._type]]
        return self.x.size(-1) if "x" in names else 0

    num_node_features = num_features

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            attribute = self._data.schema.attribute(self._type, name)
        except KeyError as error:
            raise AttributeError(error.args[0]) from None
        if attribute.split_code:
            value = self._data.schema.mask(self._type, SPLITS[name])
        else:
            store, _ = self._data
            value = RemoteColumn(store, None if self._data.schema.homogeneous else self._type, name)
        self.__dict__[name] = value
        return value

    def __contains__(self, name: str) -> bool:
        return any(each.name == name for each in self._data.schema.all_attributes[self._type])

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self._data.schema.all_attributes[self._type])
        return f"<NodeView {self._type}: {self.num_nodes} nodes, {names}>"


class RemoteGraph(tuple):
    """A (FeatureStore, GraphStore) that also answers what scripts ask of a Data or HeteroData:
    num_nodes, num_features, num_classes, node_types, edge_types, metadata(), x, y, train_mask,
    data["paper"].num_features. Nothing of it is here but the schema; masks come when they are asked
    for, and x and y are indexed to be read.

    Threads: any number. It can be pickled, and is opened again where it arrives.
    """

    schema: Schema
    _given: tuple

    def __new__(cls, graph: Graph, attrs: Attributes = None, edge_attrs: Attributes = None,
                heterogeneous: Optional[bool] = None):
        schema = Schema(graph, attrs, edge_attrs, heterogeneous)
        made = super().__new__(cls, (RemoteFeatureStore(schema), RemoteGraphStore(schema)))
        made.schema = schema
        made._given = graph, attrs, edge_attrs, heterogeneous
        made._views = {}
        return made

    def __reduce__(self) -> tuple:
        return RemoteGraph, self._given

    @property
    def graph(self) -> Graph:
        """The vicinity_graph.Graph."""
        return self.schema.graph

    @property
    def node_types(self) -> List[str]:
        """Their names."""
        return self.schema.node_types

    @property
    def edge_types(self) -> List[EdgeType]:
        """Each (source, relation, target)."""
        return self.schema.edge_types

    def metadata(self) -> Tuple[List[str], List[EdgeType]]:
        """As HeteroData.metadata()."""
        return self.node_types, self.edge_types

    @property
    def num_nodes(self) -> int:
        """Of all types together."""
        return sum(self.schema.num_nodes.values())

    @property
    def num_features(self) -> Any:
        """Of each row of x; of a heterogeneous graph, by node type."""
        if self.schema.homogeneous:
            return self._only.num_features
        return {node_type: self[node_type].num_features for node_type in self.node_types}

    num_node_features = num_features

    @property
    def num_classes(self) -> int:
        """Of the labels; of a heterogeneous graph, of the only type that has some."""
        numbers = [each["num_classes"] for each in self.schema.described.values()
                   if each["label_column"]]
        if len(numbers) != 1:
            raise AttributeError(f"{len(numbers)} node types have labels: "
                                 "data.graph.description tells the classes of each")
        return numbers[0]

    def names(self, node_type: str, n_id: Tensor) -> List[str]:
        """Of a type whose ids are strings, those of the ids in n_id."""
        return self.graph.user_names(node_type, n_id.cpu())

    @property
    def _only(self) -> NodeView:
        return self[self.node_types[0]]

    def __getitem__(self, key: Any) -> Any:
        """By a node type its view; by a number, the stores of the tuple."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        node_type = self.schema.node_type(key)
        if node_type not in self._views:
            self._views[node_type] = NodeView(self, node_type)
        return self._views[node_type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "schema":
            raise AttributeError(name)
        if self.schema.homogeneous:
            return getattr(self._only, name)
        raise AttributeError(f"the graph has {len(self.node_types)} node types: say "
                             f"data[{self.node_types[0]!r}].{name}")

    def __repr__(self) -> str:
        sizes: Dict[str, int] = self.schema.num_nodes
        nodes = ", ".join(f"{name}={count}" for name, count in sizes.items())
        masks = ", ".join(mask for mask in MASKS
                          if self.schema.homogeneous and mask in self._only)
        return (f"RemoteGraph({self.graph.description['name']!r}, {nodes}, "
                f"edge_types={self.edge_types}{', ' + masks if masks else ''})")
