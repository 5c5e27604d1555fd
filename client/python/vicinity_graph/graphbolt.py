"""GraphBolt, DGL's data loading, over a graph on servers: a sampler and features for its pipelines.

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
as GraphBolt writes them, "user" and "user:buys:item". Samples and rows are asked for batch by batch,
nothing works ahead, as a Loader does, whose batches vicinity_graph.dgl.blocks turns into blocks.

Needs DGL 2.1, which it is tested with. Workers of the data loader are forks, and a graph refuses to be used in one.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from dgl import graphbolt
from torch import Tensor

from ._layers import Layer, layers
from .batch import Batch
from .graph import Graph


def _homogeneous(graph: Graph) -> bool:
    return len(graph.node_types) == 1 and len(graph.edge_types) == 1


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
        raise NotImplementedError("the rows of a graph on servers are read only")


def feature_store(graph: Graph,
                  columns: Optional[Sequence[Tuple[str, str]]] = None) -> graphbolt.BasicFeatureStore:
    """Of these columns of nodes, pairs of a type's name and a column's, or of all there are, under
    their own names: ("node", type, column), the type being None in a homogeneous graph."""
    if columns is None:
        columns = [(each["name"], column["name"]) for each in graph.description["node_types"]
                   for column in each["columns"]]
    return graphbolt.BasicFeatureStore({
        ("node", None if _homogeneous(graph) else node_type, column): Column(graph, node_type, column)
        for node_type, column in columns})


class NeighborSampler(graphbolt.SubgraphSampler):
    """Samples a minibatch's neighbourhood on the servers, in one call.

    fanouts are those of graph.sample: the hop next to the seeds first, each one number or, for each
    edge type, a list in the order of graph.edge_types. edge_ids=True brings original_edge_ids,
    places in the import; options are those of graph.sample, as replace and weighted_by. What is
    drawn follows torch.manual_seed.

    Errors: ValueError for a minibatch that has a seed twice, or seeds of no type where there are
            several; NotImplementedError for timestamps.
    """

    def __init__(self, datapipe: Any, graph: Graph, fanouts: Sequence[Any], *, edge_ids: bool = False,
                 **options: Any):
        super().__init__(datapipe)
        self._graph = graph
        self._fanouts = fanouts
        self._edge_ids = edge_ids
        self._options = options

    def sample_subgraphs(self, seeds: Any, seeds_timestamp: Any = None,
                         *later: Any) -> Tuple[Any, List[Any]]:
        """As SubgraphSampler's."""
        if seeds_timestamp is not None or any(each is not None for each in later):
            raise NotImplementedError("sampling by timestamps is not there for GraphBolt: "
                                      "graph.loader has time_column and seed_times")
        if not isinstance(seeds, dict):
            seeds = {self._only_type(): seeds}
        given = {node_type: ids.cpu() for node_type, ids in seeds.items() if ids.numel() > 0}
        batch = self._graph.sample(list(given), list(given.values()), self._fanouts,
                                   edge_ids=self._edge_ids, run_seed=self._run_seed(),
                                   **self._options)
        self._check_distinct(batch, given)
        nodes = {each: batch.nodes(each).torch() for each in batch.node_types}
        subgraphs = [self._subgraph(layer, nodes) for layer in layers(batch, self._edge_ids)]
        return self._plain(nodes), subgraphs

    def _run_seed(self) -> int:
        """Of the next minibatch."""
        return int(torch.empty((), dtype=torch.int64).random_())

    def _only_type(self) -> str:
        if not _homogeneous(self._graph):
            raise ValueError(f"seeds are a tensor: of a graph with node types {self._graph.node_types} "
                             f"and edge types {self._graph.edge_types} say of which, in an ItemSetDict")
        return self._graph.node_types[0]

    @staticmethod
    def _check_distinct(batch: Batch, given: Dict[str, Tensor]) -> None:
        for node_type, ids in given.items():
            if batch.hop_ends(node_type).tolist()[0] != ids.numel():
                values, counts = ids.unique(return_counts=True)
                raise ValueError(f"a minibatch has node {values[counts > 1][0].item()} of type "
                                 f"{node_type!r} among its seeds more than once")

    def _plain(self, by_type: Dict[str, Any]) -> Any:
        """Of a homogeneous graph the only value."""
        return next(iter(by_type.values())) if _homogeneous(self._graph) else by_type

    def _subgraph(self, layer: Layer, nodes: Dict[str, Tensor]) -> Any:
        edges = {edge_type: graphbolt.CSCFormatBase(indptr=each.offsets, indices=each.sources)
                 for edge_type, each in layer.edges.items()}
        ids = {edge_type: each.ids for edge_type, each in layer.edges.items()}
        return graphbolt.SampledSubgraphImpl(
            sampled_csc=self._plain(edges),
            original_column_node_ids=self._plain(
                {each: ids[:layer.num_targets[each]] for each, ids in nodes.items()}),
            original_row_node_ids=self._plain(
                {each: ids[:layer.num_sources[each]] for each, ids in nodes.items()}),
            original_edge_ids=self._plain(ids) if self._edge_ids else None)


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
        super().__init__(datapipe, graph, fanouts, draws="labor",
                         layer_dependency=layer_dependency, **options)
        if batch_dependency < 1:
            raise ValueError(f"batch_dependency is {batch_dependency}: 1 or more")
        self._batch_dependency = batch_dependency
        self._num_batches = 0
        self._shared_seed = 0

    def _run_seed(self) -> int:
        if self._num_batches % self._batch_dependency == 0:
            self._shared_seed = super()._run_seed()
        self._num_batches += 1
        return self._shared_seed
