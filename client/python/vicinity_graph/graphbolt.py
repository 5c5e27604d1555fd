"""GraphBolt, DGL's data loading, over a graph on servers: samplers and features for its pipelines, and
its minibatches made ahead.

    import dgl.graphbolt as gb
    from vicinity_graph.graphbolt import NeighborSampler, feature_store

    train = graph.nodes("paper", "train").torch()
    items = gb.ItemSet((train, labels), names=("seed_nodes", "labels"))
    pipe = gb.ItemSampler(items, batch_size=1024, shuffle=True)
    pipe = NeighborSampler(pipe, graph, [15, 10])
    pipe = pipe.fetch_feature(feature_store(graph), node_feature_keys=["features"])
    for batch in gb.DataLoader(pipe):                  # with num_workers=0
        out = model(batch.blocks, batch.node_features["features"])

Nodes are told by global ids. A graph of one node and one edge type is homogeneous, others have names
as GraphBolt writes them, "user" and "user:buys:item". In a pipeline samples and rows are asked for batch
by batch, and nothing works ahead. MiniBatchLoader makes the same minibatches ahead, as a Loader does.

Needs DGL 2.1, which it is tested with. Workers of the data loader are forks, and a graph refuses to be
used in one.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from dgl import graphbolt
from torch import Tensor

from ._graphbolt_features import Column, EdgeColumn, FeatureStore, feature_store
from ._graphbolt_loader import MiniBatchLoader
from ._graphbolt_parts import check_distinct, homogeneous, subgraphs
from .batch import Batch
from .graph import Graph

__all__ = ["Column", "EdgeColumn", "FeatureStore", "LayerNeighborSampler", "MiniBatchLoader",
           "NeighborSampler", "TemporalNeighborSampler", "feature_store"]


class NeighborSampler(graphbolt.SubgraphSampler):
    """Samples a minibatch's neighbourhood on the servers, in one call.

    fanouts are those of graph.sample: the hop next to the seeds first, each one number or, for each
    edge type, a list in the order of graph.edge_types. edge_ids=True brings original_edge_ids,
    places in the import; `store`, of feature_store(), has the rows of its columns of edges brought along,
    for fetch_feature(store, edge_feature_keys=...), and edge ids with them. Options are those of
    graph.sample, as replace and weighted_by. What is drawn follows torch.manual_seed.

    Errors: ValueError for a minibatch that has a seed twice, or seeds of no type where there are
            several; NotImplementedError for timestamps, which TemporalNeighborSampler takes.
    """

    def __init__(self, datapipe: Any, graph: Graph, fanouts: Sequence[Any], *, edge_ids: bool = False,
                 store: Optional[FeatureStore] = None, **options: Any):
        super().__init__(datapipe)
        self._graph = graph
        self._fanouts = fanouts
        self._edge_features: List[EdgeColumn] = [] if store is None else store.edge_features
        self._edge_ids = edge_ids or bool(self._edge_features)
        self._options = options
        if self._edge_features:
            self._options = {**options, "edge_columns": [each.key for each in self._edge_features]}

    def sample_subgraphs(self, seeds: Any, seeds_timestamp: Any = None,
                         *later: Any) -> Tuple[Any, List[Any]]:
        """As SubgraphSampler's."""
        if seeds_timestamp is not None or any(each is not None for each in later):
            raise NotImplementedError("timestamps are for TemporalNeighborSampler, which says by which "
                                      "times edges are drawn")
        given = self._given(seeds)
        batch = self._drawn(given, None)
        check_distinct(batch, given)
        return subgraphs(self._graph, batch, self._edge_ids)

    def _given(self, seeds: Any) -> Dict[str, Tensor]:
        if not isinstance(seeds, dict):
            seeds = {self._only_type(): seeds}
        return {node_type: ids.cpu() for node_type, ids in seeds.items() if ids.numel() > 0}

    def _drawn(self, given: Dict[str, Tensor], seed_times: Optional[List[Tensor]]) -> Batch:
        batch = self._graph.sample(list(given), list(given.values()), self._fanouts,
                                   seed_times=seed_times, edge_ids=self._edge_ids,
                                   run_seed=self._run_seed(), **self._options)
        for each in self._edge_features:
            each.keep(batch)
        return batch

    def _run_seed(self) -> int:
        """Of the next minibatch."""
        return int(torch.empty((), dtype=torch.int64).random_())

    def _only_type(self) -> str:
        if not homogeneous(self._graph):
            raise ValueError(f"seeds are a tensor: of a graph with node types {self._graph.node_types} "
                             f"and edge types {self._graph.edge_types} say of which, in an ItemSetDict")
        return self._graph.node_types[0]


class LayerNeighborSampler(NeighborSampler):
    """As GraphBolt's: LABOR, by which the nodes of a layer choose the same neighbours where they can,
    so that a minibatch has fewer nodes. Each node's sample is by chance as NeighborSampler's.

    layer_dependency=True has all layers choose alike; batch_dependency so many minibatches in a row,
    after which all is drawn anew (GraphBolt's goes over from one to the next little by little).
    There is no importance sampling, and no replace.

    Errors: as NeighborSampler; ValueError for a batch_dependency below 1.
    """

    def __init__(self, datapipe: Any, graph: Graph, fanouts: Sequence[Any], *,
                 layer_dependency: bool = False, batch_dependency: int = 1, **options: Any):
        if batch_dependency < 1:
            raise ValueError(f"batch_dependency is {batch_dependency}: 1 or more")
        super().__init__(datapipe, graph, fanouts, draws="labor",
                         layer_dependency=layer_dependency, **options)
        self._batch_dependency = batch_dependency
        self._num_batches = 0
        self._shared_seed = 0

    def _run_seed(self) -> int:
        if self._num_batches % self._batch_dependency == 0:
            self._shared_seed = super()._run_seed()
        self._num_batches += 1
        return self._shared_seed


class TemporalNeighborSampler(NeighborSampler):
    """As GraphBolt's: of each seed, the minibatch's item "timestamp" of int64, only what is earlier is
    drawn, at every hop. A seed may come several times, each time with another timestamp.

    edge_timestamp_attr_name is a column of edges, int64; node_timestamp_attr_name one of nodes, of which
    the edges from them were imported with a copy (`of_source`, copy_to_edges= of
    vicinity_graph.convert): neighbours are earlier, seeds may be of any time, as with GraphBolt's.
    prob_name is the weight column. Each seed has a tree of its own, in which a node is once: GraphBolt's
    has it once for each edge that led there. Other arguments are those of NeighborSampler.

    Errors: ValueError for a minibatch without timestamps, for timestamps that are no int64, and for
            columns that are none; NotImplementedError for both kinds of timestamps at once, and for
            nodes' of which edges have no copy.
    """

    def __init__(self, datapipe: Any, graph: Graph, fanouts: Sequence[Any], replace: bool = False,
                 prob_name: Optional[str] = None, node_timestamp_attr_name: Optional[str] = None,
                 edge_timestamp_attr_name: Optional[str] = None, **options: Any):
        time_column = _time_column(graph, node_timestamp_attr_name, edge_timestamp_attr_name)
        super().__init__(datapipe, graph, fanouts, replace=replace, disjoint=True,
                         time_column=time_column, weighted_by=prob_name or "", **options)

    def sample_subgraphs(self, seeds: Any, seeds_timestamp: Any = None,
                         *later: Any) -> Tuple[Any, List[Any]]:
        """As SubgraphSampler's."""
        if any(each is not None for each in later):
            raise NotImplementedError("windows of time are not there for GraphBolt")
        if seeds_timestamp is None:
            raise ValueError("the minibatch has no timestamps: name an item of the ItemSet \"timestamp\"")
        given = self._given(seeds)
        if not isinstance(seeds_timestamp, dict):
            seeds_timestamp = {self._only_type(): seeds_timestamp}
        times = [_last_before(seeds_timestamp[each].cpu()) for each in given]
        return subgraphs(self._graph, self._drawn(given, times), self._edge_ids)


def _last_before(timestamps: Tensor) -> Tensor:
    """GraphBolt draws what is earlier, the library what is not later."""
    if timestamps.dtype != torch.int64:
        raise ValueError(f"timestamps are {timestamps.dtype}: give int64")
    if bool((timestamps == torch.iinfo(torch.int64).min).any()):
        raise ValueError("nothing is earlier than a timestamp of -2^63")
    return timestamps - 1


def _time_column(graph: Graph, of_nodes: Optional[str], of_edges: Optional[str]) -> str:
    """The column of edges that has the times."""
    if (of_nodes is None) == (of_edges is None):
        if of_nodes is None:
            raise ValueError("name node_timestamp_attr_name or edge_timestamp_attr_name")
        raise NotImplementedError("edges are drawn by one column of times: give "
                                  "node_timestamp_attr_name or edge_timestamp_attr_name, not both")
    columns = {column["name"]: column for each in graph.description["edge_types"]
               for column in each["columns"]}
    if of_edges is not None:
        if of_edges not in columns:
            raise ValueError(f"edge_timestamp_attr_name {of_edges!r} is a column of no edge type; "
                             f"there are {sorted(columns) or 'none'}")
        return of_edges
    for name, column in columns.items():
        if column.get("of_source") == of_nodes:
            return name
    raise NotImplementedError(
        f"no edges have a copy of their sources' {of_nodes!r}, by which they would be drawn: import them "
        f"with `columns {{ of_source: \"{of_nodes}\" }}`, which vicinity_graph.convert writes if it is "
        f"given copy_to_edges=[{of_nodes!r}]")
