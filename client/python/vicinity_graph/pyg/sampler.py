"""A sampler for those who keep PyG's NodeLoader and LinkLoader."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

import torch
from torch import Tensor
from torch_geometric.sampler import BaseSampler, EdgeSamplerInput, NegativeSampling, \
    NodeSamplerInput
from torch_geometric.sampler.neighbor_sampler import edge_sample, node_sample

from ._batches import SampledBatch, sampler_output, turned_round
from ._sampling import backward, own_times, sampling_of, schema_of


class _SampledIds(SampledBatch):
    """Of a single sample, which brings no user ids: they are asked for."""

    def nodes(self, node_type: str) -> Tensor:
        return self._schema.to_pyg(node_type, self._batch.nodes(node_type).torch())


class NeighborSampler(BaseSampler):
    """Samples on the servers, one call a batch, for torch_geometric.loader.NodeLoader and LinkLoader:

        loader = NodeLoader(data, NeighborSampler(data, [15, 10]), input_nodes=("paper", index))

    with any `sampler=` of PyTorch's, negatives and transforms of PyG's. Nothing works ahead, and the
    rows of a batch come when PyG asks for them: NeighborLoader is faster by far.

    Arguments and errors are those of torch_geometric.sampler.NeighborSampler. What is drawn follows
    torch.manual_seed. In workers of a DataLoader: multiprocessing_context="spawn".

    sample_direction="backward" is PyG 2.7's: edges are followed from their sources to their targets, and
    come as ever, each type's from source to target. The graph has to have them the other way round, too,
    as `vicinity import --add-reverse-apart` makes them: ValueError names those that it has not.
    """

    def __init__(self, data: Any, num_neighbors: Any, subgraph_type: Any = "directional",
                 replace: bool = False, disjoint: bool = False, temporal_strategy: str = "uniform",
                 time_attr: Optional[str] = None, weight_attr: Optional[str] = None,
                 is_sorted: bool = False, share_memory: bool = False, directed: bool = True,
                 sample_direction: str = "forward"):
        del is_sorted, share_memory  # of what lies in memory
        if sample_direction not in ("forward", "backward"):
            raise ValueError(f"sample_direction is {sample_direction!r}: 'forward', from targets to "
                             "sources, or 'backward'")
        self.schema = schema_of(data)
        self.sampling = sampling_of(
            self.schema, num_neighbors, replace=replace, subgraph_type=subgraph_type,
            disjoint=disjoint, temporal_strategy=temporal_strategy, time_attr=time_attr,
            weight_attr=weight_attr, directed=directed)
        if sample_direction == "backward":
            self.sampling = backward(self.schema, self.sampling)
        self.sample_direction = sample_direction
        self.num_neighbors = num_neighbors
        self.disjoint = self.sampling.disjoint
        self.subgraph_type = subgraph_type
        self._node_times: Dict[str, Tensor] = {}  # of all nodes of a type, once links need them

    def sample_from_nodes(self, index: NodeSamplerInput, **kwargs: Any) -> Any:
        """As BaseSampler's."""
        self._check_time(index.time, self.sampling.node_times)
        return self._finish(node_sample(index, self._sample))

    def sample_from_edges(self, index: EdgeSamplerInput,
                          neg_sampling: Optional[NegativeSampling] = None) -> Any:
        """As BaseSampler's; negatives are drawn by PyG, which may draw links that the graph has."""
        self._check_time(index.time, False)
        if neg_sampling is not None:
            self._check_dense(index.input_type)
        num_nodes: Union[int, Dict[str, int]] = self.schema.num_nodes
        if self.schema.homogeneous:
            num_nodes = self.schema.num_nodes[self.schema.node_types[0]]
        node_time = None if neg_sampling is None else self._times_of_ends(index.input_type)
        return self._finish(edge_sample(index, self._sample, num_nodes, self.disjoint, node_time,
                                        neg_sampling))

    def _times_of_ends(self, edge_type: Any) -> Any:
        """By which PyG draws negatives, 8 bytes a node: of the types of a link's ends; None where times
        are not of nodes."""
        if not self.sampling.node_times:
            return None
        ends = self.schema.edge_type(edge_type)
        for node_type in {ends[0], ends[2]} - self._node_times.keys():
            if self.schema.has_column(node_type, self.sampling.time_column):
                everybody = torch.arange(self.schema.num_nodes[node_type])
                self._node_times[node_type] = self.schema.times(
                    node_type, self.sampling.time_column, everybody)
        return self._node_times.get(ends[0]) if self.schema.homogeneous else self._node_times

    def _check_dense(self, edge_type: Any) -> None:
        """PyG draws negatives from 0, 1, ..., which are nodes only where ids are dense."""
        ends = self.schema.edge_type(edge_type)
        for node_type in (ends[0], ends[2]):
            kind = self.schema.described[node_type]["id_kind"]
            if kind != "dense":
                raise NotImplementedError(
                    f"PyG draws negatives by numbers, and ids of {node_type!r} are {kind}: "
                    "vicinity_graph.pyg.LinkNeighborLoader draws them for any ids")

    def _check_time(self, time: Any, optional: bool) -> None:
        given, wanted = time is not None, bool(self.sampling.time_column)
        if given != wanted and (given or not optional):
            raise ValueError("time_attr needs input_time (edge_label_time of links), and this time_attr")

    def _finish(self, out: Any) -> Any:
        if not self.sampling.bidirectional:
            return out
        return out.to_bidirectional(keep_orig_edges=True)

    def _sample(self, seeds: Any, seed_time: Any = None) -> Any:
        if not isinstance(seeds, dict):
            seeds = {self.schema.node_types[0]: seeds}
            seed_time = seed_time if seed_time is None else {self.schema.node_types[0]: seed_time}
        types: List[str] = list(seeds)
        times = self._seed_times(seeds, seed_time)
        ids = [self.schema.to_global(node_type, seeds[node_type]).numpy() for node_type in types]
        run_seed = int(torch.empty((), dtype=torch.int64).random_())
        batch = self.schema.graph.sample(types, ids, self.sampling.fanouts, seed_times=times,
                                         edge_ids=True, run_seed=run_seed,
                                         **self.sampling.options())
        out = sampler_output(self.schema, _SampledIds(self.schema, batch), edge_ids=True,
                             sampling=self.sampling)
        return turned_round(self.schema, out) if self.sample_direction == "backward" else out

    def _seed_times(self, seeds: Dict[str, Tensor],
                    given: Optional[Dict[str, Tensor]]) -> Optional[List[Tensor]]:
        """By type. Where time is none that was given it is the seed's own."""
        if not self.sampling.time_column:
            return None
        given = given or {}
        return [own_times(self.schema, self.sampling, each, seeds[each], "input_time")
                if given.get(each) is None else given[each] for each in seeds]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_neighbors})"
