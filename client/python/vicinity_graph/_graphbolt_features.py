"""Columns of nodes and edges as GraphBolt's features."""

from __future__ import annotations

import collections
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from dgl import graphbolt
from torch import Tensor

from . import _given
from ._graphbolt_parts import homogeneous
from .batch import Batch
from .graph import Graph

# GraphBolt reads a minibatch's features when it is at most a few minibatches behind the sampler.
_MINIBATCHES_KEPT = 16


def _refuse_update() -> None:
    raise NotImplementedError("the rows of a graph on servers are read only")


class Column(graphbolt.Feature):
    """A column of nodes, read only.

    Errors: ValueError for the whole column, which stays on its servers; InvalidArgument and NotFound
            as Graph.fetch.
    """

    def __init__(self, graph: Graph, node_type: str, column: str):
        super().__init__()
        self._graph = graph
        self._key = node_type, column
        self._shape = graph.fetch(node_type, column, []).shape[1:]

    def read(self, ids: Optional[Tensor] = None) -> Tensor:
        """Rows of nodes, on the device of their ids."""
        if ids is None:
            raise ValueError(f"column {self._key} stays on its servers whole: ask for the rows of some "
                             "nodes")
        return self._graph.fetch(*self._key, ids.cpu()).torch().to(ids.device)

    def size(self) -> torch.Size:
        """Of a row."""
        return torch.Size(self._shape)

    def update(self, value: Any, ids: Any = None) -> None:
        """NotImplementedError."""
        _refuse_update()


class _Rows(NamedTuple):
    """Of a minibatch's edges, each once, by rising ids."""

    ids: Tensor
    rows: Tensor

    def find(self, ids: Tensor) -> Optional[Tensor]:
        """Rows of these; None if one of them is missing."""
        places = torch.searchsorted(self.ids, ids).clamp(max=self.ids.numel() - 1)
        if self.ids.numel() == 0 or not torch.equal(self.ids[places], ids):
            return None
        return self.rows[places]


class EdgeColumn(graphbolt.Feature):
    """A column of edges, read only. Servers find rows of edges by their targets, not by edge ids:
    so a sampler that is given the column's store brings the rows with its minibatches, and they are
    read here, by any edge ids of one of the last 16 minibatches.

    Threads: any; minibatches come from one sampler after the other.
    Errors:  ValueError for the whole column, and for edges of no such minibatch; NotFound when it is
             made, for a type or column that the graph lacks.
    """

    def __init__(self, graph: Graph, edge_type: str, column: str):
        super().__init__()
        position = _given.position(edge_type, "edge type", graph.edge_types)
        described = graph.description["edge_types"][position]["columns"]
        found = described[_given.position(column, f"column of {edge_type!r}",
                                          [each["name"] for each in described])]
        #: (edge type, column), as graph.sample's edge_columns have it.
        self.key = edge_type, column
        self._none = torch.empty((0, *found["shape"]), dtype=getattr(
            torch, "uint8" if found["dtype"] == "bool" else found["dtype"]))
        self._kept: Deque[_Rows] = collections.deque(maxlen=_MINIBATCHES_KEPT)

    def keep(self, batch: Batch) -> None:
        """The rows that a batch brought, sampled with edge_ids and this column."""
        edge_type, column = self.key
        parts = [(block.edge_ids.torch(),
                  batch.edge_columns[block.hop, edge_type, column].torch())
                 for block in batch.blocks if block.edge_type == edge_type]
        ids = torch.cat([torch.empty(0, dtype=torch.int64), *(part[0] for part in parts)])
        rows = torch.cat([self._none, *(part[1] for part in parts)])
        order = ids.argsort(stable=True)
        self._kept.append(_Rows(ids[order], rows[order]))

    def read(self, ids: Optional[Tensor] = None) -> Tensor:
        """Rows of edges, on the device of their ids."""
        if ids is None:
            raise ValueError(f"column {self.key} stays on its servers whole: ask for the rows of the "
                             "edges of a minibatch")
        if ids.numel() == 0:
            return self._none.to(ids.device)
        wanted = ids.cpu()
        for kept in reversed(list(self._kept)):
            rows = kept.find(wanted)
            if rows is not None:
                return rows.to(ids.device)
        raise ValueError(
            f"{wanted.numel()} edges of {self.key[0]!r}, the first of them {wanted[0].item()}, are not "
            f"those of one of the last {_MINIBATCHES_KEPT} minibatches: rows of edges come with the "
            "minibatches of a sampler that has the store, NeighborSampler(..., store=store)")

    def size(self) -> torch.Size:
        """Of a row."""
        return self._none.shape[1:]

    def update(self, value: Any, ids: Any = None) -> None:
        """NotImplementedError."""
        _refuse_update()


class FeatureStore(graphbolt.BasicFeatureStore):
    """GraphBolt's, of columns of a graph."""

    def __init__(self, features: Dict[Tuple[str, Optional[str], str], graphbolt.Feature]):
        super().__init__(features)
        #: Those of edges.
        self.edge_features: List[EdgeColumn] = [each for each in features.values()
                                                if isinstance(each, EdgeColumn)]


def feature_store(graph: Graph, columns: Optional[Sequence[Tuple[str, str]]] = None,
                  edge_columns: Sequence[Tuple[str, str]] = ()) -> FeatureStore:
    """Of these columns of nodes, pairs of a type's name and a column's, or of all there are, and of
    these of edges, under their own names: ("node", type, column) and ("edge", type, column), the type
    being None in a homogeneous graph. A sampler brings the rows of edges, if it has the store:

        store = feature_store(graph, edge_columns=[("paper:cites:paper", "weight")])
        pipe = NeighborSampler(pipe, graph, [15, 10], store=store)
        pipe = pipe.fetch_feature(store, node_feature_keys=["features"], edge_feature_keys=["weight"])
    """
    if columns is None:
        columns = [(each["name"], column["name"]) for each in graph.description["node_types"]
                   for column in each["columns"]]
    nameless = homogeneous(graph)
    features: Dict[Tuple[str, Optional[str], str], graphbolt.Feature] = {}
    for node_type, column in columns:
        features["node", None if nameless else node_type, column] = Column(graph, node_type, column)
    for edge_type, column in edge_columns:
        features["edge", None if nameless else edge_type, column] = EdgeColumn(graph, edge_type,
                                                                               column)
    return FeatureStore(features)
