"""Sets of nodes and all edges between them, as PyG's Data: what GraphSAINT and Cluster-GCN train on."""

from __future__ import annotations

import collections
import itertools
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, Tuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from .._library import cancellation
from ..batch import Batch
from ._batches import SampledBatch, fill_edges
from ._places import Place, keep_place, place_of
from ._sampling import schema_of
from ._schema import EdgeType, Schema
from .loaders import _DataLoaderArguments

_OPTIONS = {"trainer", "num_trainers", "run_seed", "sample_threads"}

_AT_A_TIME = 1 << 20  # of nodes that a call asks about, and of edges that it brings


def single_type(data: Any, what: str) -> Schema:
    """TypeError unless it is a RemoteGraph, ValueError for a heterogeneous one, as PyG's."""
    schema = schema_of(data)
    if not schema.homogeneous:
        raise ValueError(f"{what} is for homogeneous graphs, whose nodes are of one type; this one has "
                         f"the edge types {schema.edge_types}: NeighborLoader takes them, also with "
                         "subgraph_type='induced'")
    return schema


class NodeSets:
    """Of a homogeneous graph. Nodes are told by their places, 0 to num_nodes - 1, in the order of
    graph.nodes(), that of masks: a node's place is the same on any cut, its global id is not.

    Threads: any number.
    Memory:  16 bytes a node of the graph.
    """

    def __init__(self, schema: Schema):
        self._schema = schema
        self._global_ids = schema.graph.nodes(self.node_type).torch()
        self._places = torch.empty_like(self._global_ids)
        self._places[self._global_ids] = torch.arange(self.num_nodes)

    @property
    def node_type(self) -> str:
        """The only one."""
        return self._schema.node_types[0]

    @property
    def edge_type(self) -> EdgeType:
        """The only one."""
        return self._schema.edge_types[0]

    @property
    def edge_name(self) -> str:
        """As the library names it."""
        return self._schema.edge_name(self.edge_type)

    @property
    def num_nodes(self) -> int:
        """Of the graph."""
        return self._global_ids.numel()

    def global_ids(self, places: Tensor) -> Tensor:
        """int64 [n]."""
        return self._global_ids[places]

    def places(self, global_ids: Tensor) -> Tensor:
        """The other way."""
        return self._places[global_ids]

    def data(self, places: Tensor, edge_ids: bool = True) -> Data:
        """The subgraph that is induced by these nodes, none of them twice: its nodes in their order,
        their rows, n_id; its edges by source, then by target, their rows, with edge_ids e_id."""
        schema, node_type = self._schema, self.node_type
        columns = {(node_type, each.column) for each in schema.attributes[node_type]}
        edge_columns = {(self.edge_name, each.column)
                        for each in schema.edge_attributes[self.edge_type]}
        ids = self.global_ids(places)
        sampled = SampledBatch(schema, self._induced(
            ids, edge_ids=edge_ids, columns=sorted(columns), edge_columns=sorted(edge_columns)))
        data = Data(num_nodes=places.numel())
        for attribute in schema.attributes[node_type]:
            data[attribute.name] = attribute.value(sampled.column(node_type, attribute.column))
        data.n_id = schema.to_pyg(node_type, ids)
        fill_edges(schema, sampled, sampled.edge_index(self.edge_type), edge_ids, data)
        return data

    def edges(self, places: Tensor) -> Tensor:
        """Their ids alone, int64 [num_edges], in any order."""
        return self._induced(self.global_ids(places), edge_ids=True).edge_ids().torch()

    def _induced(self, ids: Tensor, **wanted: Any) -> Batch:
        return self._schema.graph.sample(self.node_type, ids.numpy(), [], subgraph="induced",
                                         **wanted)

    def in_edges(self, places: Tensor) -> Tuple[Tensor, Tensor]:
        """All edges that lead to these nodes, each once: of each the place of its source, and where
        its target is among `places`; by target, then by source."""
        batch = self._schema.graph.sample(self.node_type, self.global_ids(places).numpy(), [-1])
        sources, targets = batch.edge_index().torch()
        sources = self.places(batch.nodes().torch())[sources]
        order = (targets * self.num_nodes + sources).argsort()
        return sources[order], targets[order]

    def in_degrees(self) -> Tensor:
        """Of all nodes, by their places: int64 [num_nodes]."""
        return torch.cat([self._schema.graph.degrees(self.edge_name, ids.numpy()).torch()
                          for ids in self._global_ids.split(_AT_A_TIME)])

    def pieces(self, in_degrees: Tensor) -> Iterator[Tensor]:
        """The places of all nodes that have in-edges, so many at a time that in_edges() brings about
        2^20 edges, or those of one node that has more."""
        targets = in_degrees.nonzero().view(-1)
        piece = torch.div(in_degrees[targets].cumsum(0) - 1, _AT_A_TIME, rounding_mode="floor")
        return iter(targets.split(piece.unique_consecutive(return_counts=True)[1].tolist()))

    def walk(self, places: Tensor, length: int, run_seed: int) -> Tensor:
        """A walk from each, [n, length + 1] places, -1 behind its end."""
        nodes = self._schema.graph.walk(self.global_ids(places).numpy(), length,
                                        run_seed=run_seed).torch()
        return torch.where(nodes < 0, nodes, self.places(nodes.clamp(min=0)))


def ahead(make: Callable[[int], Any], steps: Iterable[int],
          num_threads: int) -> Iterator[Tuple[int, Any]]:
    """(step, make(step)) in order, made by as many threads, up to two a thread before they are
    taken."""
    given_up = cancellation()

    def made_by_thread(step: int) -> Any:
        with given_up.of_thread():
            return make(step)

    rest = iter(steps)
    waiting: Deque[Tuple[int, Future]] = collections.deque()
    with ThreadPoolExecutor(num_threads) as pool:
        try:
            for step in itertools.islice(rest, 2 * num_threads):
                waiting.append((step, pool.submit(made_by_thread, step)))
            while waiting:
                step, made = waiting.popleft()
                yield step, made.result()
                for following in itertools.islice(rest, 1):
                    waiting.append((following, pool.submit(made_by_thread, following)))
        finally:
            for _, made in waiting:
                made.cancel()
            given_up.cancel()  # what is made for nobody, so that its threads end


class SetLoader:
    """What loaders of sets of nodes share: epochs of steps, each of which makes a batch by its number
    alone, by threads that work ahead."""

    def __init__(self, data: Any, sets: NodeSets, given: Dict[str, Any]):
        self.data = data
        self._schema = data.schema
        self._sets = sets
        self._arguments = _DataLoaderArguments(given, _OPTIONS)
        options = self._arguments.options
        self._run_seed: int = options["run_seed"]
        self._trainer: int = options.get("trainer", 0)
        self._num_trainers: int = options.get("num_trainers", 1)
        self._num_threads: int = options.get("sample_threads", 2)
        if not 0 <= self._trainer < self._num_trainers:
            raise ValueError(f"trainer is {self._trainer!r}, of {self._num_trainers!r}")
        if self._num_threads < 1:
            raise ValueError(f"sample_threads is {self._num_threads!r}: give a positive integer")
        self.num_workers = 0
        self._position = Place(0, 0)  # behind the batch that was taken last
        self._next = Place(0, 0)      # where the next pass begins

    def __len__(self) -> int:
        raise NotImplementedError

    def _steps_of(self, epoch: int) -> Callable[[int], Data]:
        """What makes the batch of a step of this epoch."""
        raise NotImplementedError

    def _identity(self) -> Dict[str, Any]:
        """What must be the same for batches to be."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Data]:
        """One epoch, the next each time."""
        epoch, first = self._next
        sampler = self._arguments.sampler
        if sampler is not None and sampler.epoch > epoch:  # set_epoch() was ahead
            epoch, first = sampler.epoch, 0
        self._next = Place(epoch + 1, 0)
        make, run_seed = self._steps_of(epoch), self._run_seed
        for step, data in ahead(make, range(first, len(self)), self._num_threads):
            self._position = Place(epoch, step + 1)
            yield keep_place(data.pin_memory() if self._arguments.pin_memory else data,
                             run_seed, self._position)
        self._position = Place(epoch + 1, 0)

    def state_dict(self) -> Dict[str, Any]:
        """Where training is, behind the batch that was taken last, or, behind a pass that ended, where
        the next epoch begins: a few plain values."""
        return self._state(self._position)

    def state_behind(self, batch: Data) -> Dict[str, Any]:
        """The state_dict() behind a batch of this loader, whichever were taken since. ValueError for
        what is none, and for one of a loader with another run_seed."""
        return self._state(place_of(batch, self._run_seed))

    def _state(self, place: Place) -> Dict[str, Any]:
        return {"version": 1, "run_seed": self._run_seed, "epoch": place.epoch,
                "batches_done": place.batches_done, **self._whole_identity()}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Has the next pass go on there, with the run_seed that the state has, in constant time. What
        is left of its epoch comes first. ValueError names what makes the batches others."""
        for name, value in self._whole_identity().items():
            if state.get(name) != value:
                raise ValueError(f"the state is of a loader with {name} {state.get(name)!r}; this one "
                                 f"has {value!r}: its batches are others")
        self._run_seed = int(state["run_seed"])
        self._position = self._next = Place(int(state["epoch"]), int(state["batches_done"]))

    def _whole_identity(self) -> Dict[str, Any]:
        return {"loader": type(self).__name__, "num_trainers": self._num_trainers,
                "graph": self._schema.graph.description["fingerprint"], **self._identity()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
