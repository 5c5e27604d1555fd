"""PyG's GraphSAINT samplers over a graph on servers."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy
import torch
from torch import Tensor
from torch_geometric.data import Data

from ._draws import draws_of
from ._node_sets import NodeSets, SetLoader, ahead, single_type

_OF_EPOCHS, _OF_COUNTING = 0, 1  # streams of draws

_FIRST_MERGE = 1 << 16


class _Counts:
    """How often each of any numbers was met. Memory: 16 bytes for each that was; about 100 while they
    are merged with as many that were added."""

    def __init__(self, numbers: Optional[Tensor] = None, counts: Optional[Tensor] = None):
        none = torch.empty(0, dtype=torch.int64)
        self.numbers: Tensor = none if numbers is None else numbers  # rising
        self.counts: Tensor = none if counts is None else counts
        self._added: List[Tensor] = []
        self._num_added = 0

    def add(self, numbers: Tensor) -> None:
        """Each once more."""
        self._added.append(numbers)
        self._num_added += numbers.numel()
        if self._num_added >= max(_FIRST_MERGE, self.numbers.numel()):  # so that each is sorted seldom
            self.merge()

    def merge(self) -> None:
        """Has numbers and counts tell all that was added."""
        merged, counts = map(torch.from_numpy, numpy.unique(  # PyTorch's takes more memory
            torch.cat([self.numbers, *self._added]).numpy(), return_counts=True))
        # Of what was there, its number itself is counted in place of its count.
        counts[torch.searchsorted(merged, self.numbers)] += self.counts - 1
        self.numbers, self.counts = merged, counts
        self._added, self._num_added = [], 0

    def of(self, numbers: Tensor) -> Tensor:
        """How often each of these was met, 0 for others."""
        if self.numbers.numel() == 0:
            return torch.zeros_like(numbers)
        place = torch.searchsorted(self.numbers, numbers).clamp_(max=self.numbers.numel() - 1)
        return torch.where(self.numbers[place] == numbers, self.counts[place], 0)


class GraphSAINTSampler(SetLoader):
    """What the samplers of GraphSAINT share: torch_geometric.loader's over a graph on servers. An epoch
    is num_steps batches. For each a set of nodes is drawn, about batch_size of them or of what they
    are drawn by; a batch is the subgraph that it induces: x, y, masks and the like, edge_index, n_id
    and, unless e_id=False says no, e_id. Nodes come in the order of graph.nodes(), edges by source.

    sample_coverage: above 0 batches have node_norm and edge_norm, PyG's to the last bit of the counts:
        before the first epoch sets are drawn, num_steps at a time, until they have sample_coverage
        times as many nodes as the graph. With C(x) of S sets having node or edge x, and N nodes,
            node_norm is S / C(v) / N, with 0.1 in place of a C(v) of 0
            edge_norm is C(source) / C(edge), at most 1e4; 0.1 where neither was met
        That costs the edges and edge ids, not the rows, of some sample_coverage x N / (nodes of a
        set) batches; and 16 bytes for each node and each edge that was met, about 100 while they
        are counted. It is a cost of every trainer; all count the same sets.
    save_dir: a folder where the counts are kept, in a file named as PyG's is; they are read there
        the next time. ValueError if those are of another graph or cut, sampler or batch_size.
    log: whether a bar shows how the counting goes on.

    Draws follow torch.manual_seed, generator= or run_seed=, and the number of the epoch; with several
    trainers (distributed=True, or trainer= and num_trainers=) run_seed, which is 0. They are the same
    on any cut. It takes torch.utils.data.DataLoader's arguments and run_seed, e_id and
    sample_threads=2, the threads that make batches ahead. num_workers is accepted and not needed.

    A sampler of your own overrides _sample_nodes.
    Memory: 16 bytes a node of the graph, beside what is said above and of each sampler.
    Errors: ValueError for a heterogeneous graph, as PyG takes none.
    """

    def __init__(self, data: Any, batch_size: int, num_steps: int = 1, sample_coverage: int = 0,
                 save_dir: Optional[str] = None, log: bool = True, **kwargs: Any):
        super().__init__(data, NodeSets(single_type(data, type(self).__name__)), kwargs)
        for name, value, least in (("batch_size", batch_size, 1), ("num_steps", num_steps, 1),
                                   ("sample_coverage", sample_coverage, 0)):
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}: give an integer, at least {least}")
        self.num_steps = num_steps
        self.sample_coverage = sample_coverage
        self.save_dir = save_dir
        self.log = log
        self.N = self._sets.num_nodes  # pylint: disable=invalid-name
        self._batch_size = batch_size
        self._node_counts, self._edge_counts = _Counts(), _Counts()
        self._num_samples = 0
        self._check_graph()
        self._prepare()
        if sample_coverage > 0:
            self._take_counts()

    @cached_property
    def E(self) -> int:  # pylint: disable=invalid-name
        """Edges of the graph."""
        return int(self._in_degrees.sum())

    @cached_property
    def _in_degrees(self) -> Tensor:
        return self._sets.in_degrees()

    @cached_property
    def node_norm(self) -> Tensor:
        """Of all nodes, in the order of masks: float32 [N]."""
        if self.sample_coverage == 0:
            raise AttributeError("there is no node_norm without sample_coverage")
        return self._node_norm(torch.arange(self.N))

    def _check_graph(self) -> None:
        names = {each.name for each in self._schema.attributes[self._sets.node_type]} | \
            {each.name for each in self._schema.edge_attributes[self._sets.edge_type]}
        taken = sorted(names & {"node_norm", "edge_norm"})
        if taken:
            raise ValueError(f"the graph has attributes {taken}, by which batches have their own: "
                             "connect(attrs=[...], edge_attrs=[...]) leaves the graph's out")

    def _prepare(self) -> None:
        """What _sample_nodes needs, before it runs."""

    def _sample_nodes(self, draws: numpy.random.Generator) -> Tensor:
        """The places of a set's nodes among graph.nodes(), in any order, repeats allowed: int64 [n]. All
        chance is in `draws`. Runs in several threads at a time."""
        raise NotImplementedError

    def _set_of(self, epoch: int, step: int, stream: int) -> Tensor:
        return self._sample_nodes(draws_of(self._run_seed, epoch, step, stream)).unique()

    def __len__(self) -> int:
        """Batches an epoch, of each trainer."""
        return self.num_steps

    def _steps_of(self, epoch: int) -> Callable[[int], Data]:
        def make(step: int) -> Data:
            step = step * self._num_trainers + self._trainer
            places = self._set_of(epoch, step, _OF_EPOCHS)
            data = self._sets.data(places, self._arguments.edge_ids or self.sample_coverage > 0)
            if self.sample_coverage > 0:
                self._add_norm(places, data)
            return data
        return make

    def _identity(self) -> Dict[str, Any]:
        return {"num_steps": self.num_steps, **self._of_sets()}

    def _of_sets(self) -> Dict[str, Any]:
        """What must be the same for sets to be drawn with the same chances."""
        return {"batch_size": self._batch_size}

    # --- Normalisation. ---

    def _node_norm(self, places: Tensor) -> Tensor:
        counts = self._node_counts.of(places).to(torch.float32)
        counts[counts == 0] = 0.1
        return self._num_samples / counts / self.N

    def _add_norm(self, places: Tensor, data: Data) -> None:
        data.node_norm = self._node_norm(places)
        of_source = self._node_counts.of(places[data.edge_index[0]]).to(torch.float32)
        norm = (of_source / self._edge_counts.of(data.e_id).to(torch.float32)).clamp_(0, 1e4)
        norm[norm.isnan()] = 0.1
        data.edge_norm = norm
        if not self._arguments.edge_ids:
            del data.e_id

    @property
    def _filename(self) -> str:
        return f"{type(self).__name__.lower()}_{self.sample_coverage}.pt"

    def _take_counts(self) -> None:
        path = os.path.join(self.save_dir or "", self._filename)
        if self.save_dir is not None and os.path.exists(path):
            self._load_counts(path)
            return
        self._count()
        if self.save_dir is not None:
            self._save_counts(path)

    def _count(self) -> None:
        """Draws sets as epochs have them, whose counts then stand for the chances of epochs' sets."""
        progress = _progress(self.N * self.sample_coverage) if self.log else None
        sampled, passes = 0, 0
        while sampled < self.N * self.sample_coverage:
            def make(step: int, epoch: int = passes) -> Tuple[Tensor, Tensor]:
                places = self._set_of(epoch, step, _OF_COUNTING)
                return places, self._sets.edges(places)

            for _, (places, edges) in ahead(make, range(self.num_steps), self._num_threads):
                self._node_counts.add(places)
                self._edge_counts.add(edges)
                sampled += places.numel()
                if progress is not None:
                    progress.update(places.numel())
            passes += 1
        self._num_samples = passes * self.num_steps
        self._node_counts.merge()
        self._edge_counts.merge()
        if progress is not None:
            progress.close()

    def _of_counts(self) -> Dict[str, Any]:
        return {"version": 1, "sampler": type(self).__name__,
                "graph": self._schema.graph.description["fingerprint"],
                "sample_coverage": self.sample_coverage, **self._of_sets()}

    def _save_counts(self, path: str) -> None:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        begun = f"{path}.{os.getpid()}"  # trainers may write at a time, each the same
        torch.save({**self._of_counts(), "num_samples": self._num_samples,
                    "node_counts": [self._node_counts.numbers, self._node_counts.counts],
                    "edge_counts": [self._edge_counts.numbers, self._edge_counts.counts]}, begun)
        os.replace(begun, path)

    def _load_counts(self, path: str) -> None:
        saved = torch.load(path, weights_only=True)  # a file of PyG's is of this name, too
        saved = saved if isinstance(saved, dict) else {}
        for name, value in self._of_counts().items():
            if saved.get(name) != value:
                raise ValueError(f"{path}: its counts are of {name} {saved.get(name)!r}, and here it is "
                                 f"{value!r}: name another save_dir, or remove the file")
        self._num_samples = saved["num_samples"]
        self._node_counts = _Counts(*saved["node_counts"])
        self._edge_counts = _Counts(*saved["edge_counts"])


def _progress(total: int) -> Any:
    from tqdm import tqdm  # pylint: disable=import-outside-toplevel

    return tqdm(total=total, desc="Compute GraphSAINT normalization")


def _need_edges(sampler: GraphSAINTSampler) -> None:
    if sampler.E == 0:
        raise ValueError(f"the graph has no edges, by which {type(sampler).__name__} draws nodes")


class GraphSAINTNodeSampler(GraphSAINTSampler):
    """As PyG's: a set is the sources of batch_size edges, each drawn from all edges alike, with
    replacement; so a node's chance goes by its out-degree. See GraphSAINTSampler.

    Cost: the in-degrees of all nodes are asked for once, and take 16 bytes each. Of an edge its target
        is drawn by them, and its source among the target's in-edges, in one round a batch.
    """

    def _prepare(self) -> None:
        _need_edges(self)
        self._ends = self._in_degrees.cumsum(0)

    def _sample_nodes(self, draws: numpy.random.Generator) -> Tensor:
        edges = torch.from_numpy(draws.integers(self.E, size=self._batch_size))
        targets = torch.searchsorted(self._ends, edges, right=True)
        return self._sets.walk(targets, 1, int(draws.integers(2**63 - 1)))[:, 1]


class GraphSAINTEdgeSampler(GraphSAINTSampler):
    """As PyG's: a set is both ends of batch_size edges, each drawn with replacement and a chance that
    goes by the in-degree of its source plus the out-degree of its target. (That is what PyG 2.6's code
    does; the paper has one over the degrees in its place.) See GraphSAINTSampler.

    Cost: all edges of the graph pass through once, about 2^20 at a time, as the sampler is made: their
        sources come over the network, 8 bytes an edge, and are not kept. 40 bytes a node are. For a
        batch the in-edges of the targets that are drawn come whole, in one round.
    """

    def _prepare(self) -> None:
        _need_edges(self)
        self._out_degrees = torch.zeros(self.N, dtype=torch.int64)
        of_sources = torch.zeros(self.N, dtype=torch.int64)  # of each target the sum over its in-edges
        for piece in self._sets.pieces(self._in_degrees):
            sources, targets = self._sets.in_edges(piece)
            self._out_degrees.index_add_(0, sources, torch.ones_like(sources))
            of_sources.index_add_(0, piece[targets], self._in_degrees[sources])
        # Of a target, the weights of all edges that lead to it.
        self._weights = of_sources + self._in_degrees * self._out_degrees
        self._ends = self._weights.cumsum(0)
        if self._ends[-1] == 0:
            raise ValueError("no edge can be drawn: none leads to where another comes from")

    def _sample_nodes(self, draws: numpy.random.Generator) -> Tensor:
        drawn = torch.from_numpy(draws.integers(int(self._ends[-1]), size=self._batch_size))
        targets = torch.searchsorted(self._ends, drawn, right=True)
        rest = drawn - self._ends[targets] + self._weights[targets]
        places, which = targets.unique(return_inverse=True)
        sources, of_edges = self._sets.in_edges(places)  # by target, so weights add up in a row
        ends = (self._in_degrees[sources] + self._out_degrees[places[of_edges]]).cumsum(0)
        begins = self._weights[places].cumsum(0) - self._weights[places]
        edges = torch.searchsorted(ends, begins[which] + rest, right=True)
        return torch.cat([sources[edges], targets])


class GraphSAINTRandomWalkSampler(GraphSAINTSampler):
    """As PyG's: a set is the nodes of batch_size walks of walk_length steps, whose starts are drawn
    from all nodes alike, with replacement. See GraphSAINTSampler.

    A step goes as sampling does, from an edge's target to its source, where PyG's goes from source to
    target: where edges lead both ways it is the same. A walk stays at a node that no edge leads to.
    """

    def __init__(self, data: Any, batch_size: int, walk_length: int, num_steps: int = 1,
                 sample_coverage: int = 0, save_dir: Optional[str] = None, log: bool = True,
                 **kwargs: Any):
        self.walk_length = walk_length
        super().__init__(data, batch_size, num_steps, sample_coverage, save_dir, log, **kwargs)

    @property
    def _filename(self) -> str:
        return f"{type(self).__name__.lower()}_{self.walk_length}_{self.sample_coverage}.pt"

    def _of_sets(self) -> Dict[str, Any]:
        return {"walk_length": self.walk_length, **super()._of_sets()}

    def _sample_nodes(self, draws: numpy.random.Generator) -> Tensor:
        starts = torch.from_numpy(draws.integers(self.N, size=self._batch_size))
        nodes = self._sets.walk(starts, self.walk_length, int(draws.integers(2**63 - 1)))
        return nodes[nodes >= 0]
