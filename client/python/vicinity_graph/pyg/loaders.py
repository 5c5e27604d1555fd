"""PyG's loaders over a graph on servers: batches made ahead, with their rows, by the library."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import torch
from torch import Tensor
from torch.utils.data.distributed import DistributedSampler
from torch_geometric.data.feature_store import TensorAttr
from torch_geometric.sampler import EdgeSamplerInput, NegativeSampling, NodeSamplerInput

from .. import _workers
from ..batch import Batch
from ..loader import Loader
from ..seeds import GlobalIds
from ._batches import SampledBatch, fill, new_data, sampler_output
from ._places import Place, keep_place, place_of
from ._sampling import Sampling, own_times, sampling_of, schema_of
from ._schema import EdgeType, Schema
from .sampler import NeighborSampler

# Of torch.utils.data.DataLoader: about worker processes, in whose place the library has threads.
_OF_WORKERS = {"num_workers", "persistent_workers", "prefetch_factor", "worker_init_fn",
               "multiprocessing_context", "timeout", "pin_memory_device", "in_order", "dataset",
               "collate_fn"}

# Of vicinity_graph.Loader: what is passed on.
_OF_LIBRARY = {"trainer", "num_trainers", "step_offset", "step_stride", "homes", "seed_policy",
               "run_seed", "where", "time_window", "time_follows", "draws", "layer_dependency",
               "batch_dependency", "cache", "cache_rows", "cache_bytes", "ranking", "fetch_ahead",
               "window_bytes", "sample_ahead", "sample_threads", "fetch_threads",
               "batch_timeout_ms", "placement", "device"}

class _DataLoaderArguments:
    """What PyG's loaders pass on to torch.utils.data.DataLoader, and what is passed to the library.
    `of_library` are the options that a loader takes. TypeError names what is neither."""

    def __init__(self, given: Dict[str, Any], of_library: Iterable[str] = _OF_LIBRARY):
        given = {name: value for name, value in given.items() if name not in _OF_WORKERS}
        self.batch_size: int = given.pop("batch_size", 1)
        self.shuffle: bool = bool(given.pop("shuffle", False))
        self.drop_last: bool = bool(given.pop("drop_last", False))
        self.pin_memory: bool = bool(given.pop("pin_memory", False)) and torch.cuda.is_available()
        generator = given.pop("generator", None)
        self.sampler: Optional[DistributedSampler] = _distributed(given)
        self.input_id: Optional[Tensor] = given.pop("input_id", None)
        self.custom_cls: Any = given.pop("custom_cls", None)
        #: Whether epochs have edge ids, which cost 8 bytes an edge.
        self.edge_ids: bool = bool(given.pop("e_id", True))
        _take_ranks(given)
        self.options = {name: given.pop(name) for name in list(given) if name in of_library}
        if given:
            raise TypeError(f"no arguments of a loader: {sorted(given)}; beyond those of PyG and "
                            f"DataLoader there are: {sorted({*of_library, 'distributed', 'e_id'})}")
        if not isinstance(self.batch_size, int) or self.batch_size < 1:
            raise ValueError(f"batch_size is {self.batch_size!r}: give a positive integer")
        if self.sampler is not None:
            self._follow(self.sampler)
        if "run_seed" not in self.options:  # else nothing is drawn of PyTorch's numbers
            self.options["run_seed"] = self._run_seed(generator)

    def _follow(self, sampler: DistributedSampler) -> None:
        self.shuffle = sampler.shuffle
        self.drop_last = self.drop_last or sampler.drop_last
        self.options.update(trainer=sampler.rank, num_trainers=sampler.num_replicas,
                            run_seed=sampler.seed)

    def _run_seed(self, generator: Any) -> int:
        """As torch.manual_seed says. Trainers of one run must have the same, which it need not be, and
        so must workers of a DataLoader: theirs is drawn of the number from which PyTorch makes each
        worker's."""
        if self.options.get("num_trainers", 1) > 1:
            return 0
        worker = _workers.info()
        if worker is not None and generator is None:
            generator = torch.Generator().manual_seed(worker.seed - worker.id)
        return int(torch.empty((), dtype=torch.int64).random_(generator=generator))


def _distributed(given: Dict[str, Any]) -> Optional[DistributedSampler]:
    sampler = given.pop("sampler", None)
    if given.pop("batch_sampler", None) is None and \
            (sampler is None or isinstance(sampler, DistributedSampler)):
        return sampler
    raise NotImplementedError(
        "sampler= and batch_sampler= choose seeds one batch after the other, and a loader that works "
        "ahead knows an epoch's seeds before: there is DistributedSampler, and for any other "
        "torch_geometric.loader.NodeLoader(data, vicinity_graph.pyg.NeighborSampler(data, ...))")


def _take_ranks(given: Dict[str, Any]) -> None:
    """distributed=True: trainer and num_trainers are those of torchrun, or of torch.distributed."""
    if not given.pop("distributed", False):
        return
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        given.update(trainer=torch.distributed.get_rank(),
                     num_trainers=torch.distributed.get_world_size())
    elif "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        given.update(trainer=int(os.environ["RANK"]), num_trainers=int(os.environ["WORLD_SIZE"]))
    else:
        raise ValueError("distributed=True needs torch.distributed, or RANK and WORLD_SIZE, which "
                         "torchrun sets")


class _BatchLoader:
    """What the loaders share: they differ in their seeds, and in what those add to a batch."""

    def __init__(self, data: Any, sampling: Sampling, seeds: Any, seed_times: Optional[Tensor],
                 arguments: _DataLoaderArguments, transform: Optional[Callable],
                 transform_sampler_output: Optional[Callable]):
        self.data = data
        self.transform = transform
        self.transform_sampler_output = transform_sampler_output
        self.custom_cls = arguments.custom_cls
        self.batch_size = arguments.batch_size
        self.drop_last = arguments.drop_last
        self.num_workers = 0
        self._schema: Schema = data.schema
        self._sampling = sampling
        self._seeds = seeds
        self._seed_times = seed_times
        self._arguments = arguments
        self._loader = self._open()

    def _open(self) -> Loader:
        schema, arguments = self._schema, self._arguments
        columns = {(node_type, attribute.column): None for node_type in schema.node_types
                   for attribute in schema.attributes[node_type]}
        edge_columns = {(schema.edge_name(edge_type), attribute.column): None
                        for edge_type in schema.edge_types
                        for attribute in schema.edge_attributes[edge_type]}
        return schema.graph.loader(
            self._sampling.fanouts, seeds=self._seeds, seed_times=self._seed_times,
            batch_size=arguments.batch_size,
            shuffle=arguments.shuffle, drop_last=arguments.drop_last, labels=False, user_ids=True,
            edge_ids=arguments.edge_ids, columns=list(columns), edge_columns=list(edge_columns),
            **self._sampling.options(), **arguments.options)

    def __len__(self) -> int:
        """Batches an epoch, the same for every trainer."""
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        """One epoch, the next each time. Another iterator ends the one before."""
        run_seed = self._arguments.options["run_seed"]
        for batch in self._pass():
            yield keep_place(self._data_of(batch), run_seed, Place(batch.epoch, batch.batches_done))

    def _pass(self) -> Iterator[Batch]:
        sampler = self._arguments.sampler
        if sampler is None or sampler.epoch <= self._loader.next_epoch:
            return iter(self._loader)
        return self._loader.epoch(sampler.epoch)  # set_epoch() was ahead

    def _data_of(self, batch: Batch) -> Any:
        sampled = SampledBatch(self._schema, batch)
        out = sampler_output(self._schema, sampled, self._arguments.edge_ids, self._sampling)
        if self._sampling.bidirectional:
            out = out.to_bidirectional(keep_orig_edges=True)
        self._add_seeds(sampled, out)
        if self.transform_sampler_output is not None:
            out = self._transformed(out)
        data = fill(self._schema, sampled, out, new_data(self._schema, self.custom_cls))
        self._add_metadata(out, data)
        if self._arguments.pin_memory:
            data = data.pin_memory()
        return data if self.transform is None else self.transform(data)

    def _transformed(self, out: Any) -> Any:
        nodes = out.node
        out = self.transform_sampler_output(out)
        same = nodes is out.node or (isinstance(nodes, dict) and nodes.keys() == out.node.keys() and
                                     all(nodes[each] is out.node[each] for each in nodes))
        if not same:
            raise NotImplementedError(
                "transform_sampler_output changed the nodes of a batch, whose rows are here already; "
                "torch_geometric.loader.NodeLoader with vicinity_graph.pyg.NeighborSampler fetches "
                "them afterwards")
        return out

    def _input_id(self, sampled: SampledBatch) -> Optional[Tensor]:
        if self._arguments.options.get("seed_policy") == "home":
            return None  # nobody knows
        return sampled.batch.input_positions.torch()

    def _add_seeds(self, sampled: SampledBatch, out: Any) -> None:
        raise NotImplementedError

    def _add_metadata(self, out: Any, data: Any) -> None:
        raise NotImplementedError

    def stats(self) -> Dict[str, Any]:
        """Where the time went and where rows came from, as vicinity_graph.Loader.stats()."""
        return self._loader.stats()

    def state_dict(self) -> Dict[str, Any]:
        """Where training is: see vicinity_graph.Loader.state_dict()."""
        return self._loader.state_dict()

    def state_behind(self, batch: Any) -> Dict[str, Any]:
        """The state_dict() behind a batch of this loader, whichever were taken since, as whoever works
        ahead takes them: see vicinity_graph.Loader.state_behind(). The batch may have been copied,
        moved to a device or pickled. ValueError for one of a loader with another run_seed, for one of no
        pass, and for what a transform made that is neither Data nor HeteroData."""
        place = place_of(batch, self._arguments.options["run_seed"])
        return self._loader.state_at(*place)

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Goes on there, with the run_seed that the state has: vicinity_graph.Loader's."""
        if not isinstance(state.get("run_seed"), int):
            raise ValueError(f"{state!r} is no state of a loader: it has no run_seed")
        before = self._arguments.options["run_seed"]
        self._arguments.options["run_seed"] = state["run_seed"]
        try:
            loader = self._loader if state["run_seed"] == before else self._open()
            loader.load_state_dict(state)
        except BaseException:
            self._arguments.options["run_seed"] = before
            raise
        self._loader = loader

    def close(self) -> None:
        """Stops working ahead."""
        self._loader.close()

    def __enter__(self) -> _BatchLoader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class NeighborLoader(_BatchLoader):
    """torch_geometric.loader.NeighborLoader over a graph on servers: its arguments, the attributes of
    its batches, its errors.

    Beyond those of PyG and of torch.utils.data.DataLoader it takes
        distributed=True     each trainer of a torchrun gets its share of the seeds, in equal numbers
                             of batches; trainer=, num_trainers= say so by hand, and
                             sampler=DistributedSampler(...) means the same
        e_id=False           leaves out edge ids, which cost 8 bytes an edge
        where="year > 3"     samples among edges that meet this condition on their columns
        time_window=86400    with time_attr: leaves out edges that are more than so much earlier than
                             the seed
        time_follows="path"  with time_attr: edges are not later than the edge that led to their
                             target, so times never rise on the way from a seed
        draws="labor"        has a hop's targets choose the same sources where they can, so that
                             batches have fewer nodes: DGL's layer-neighbor sampling; with
                             layer_dependency= and batch_dependency= as there
    and of vicinity_graph.Loader's options cache, cache_bytes, cache_rows, fetch_ahead, run_seed,
    sample_threads, placement, device and the like.

    Workers: batches are made ahead by threads of the library. num_workers and what belongs to it is
    accepted and not needed.
    Times: time_attr is an attribute of edges, or of nodes of which edges were imported with a copy
    (`of_source`, copy_to_edges= of vicinity_graph.convert), int64; of nodes input_time may be left out,
    and a seed's time is its own. "uniform" goes with weights, too, which PyG's does not; "last" with
    neither weights nor replacement.
    Subgraphs: subgraph_type 'induced' goes with all of these, disjoint trees as well, which are then
    induced each by itself (of a link each end's); as PyG's its batches have no num_sampled_nodes
    and num_sampled_edges.
    Errors: NotImplementedError names what is not there; ids that the graph lacks are NotFound, which
    is a LookupError, when it is made.
    """

    def __init__(self, data: Any, num_neighbors: Any, input_nodes: Any = None,
                 input_time: Optional[Tensor] = None, replace: bool = False,
                 subgraph_type: Any = "directional", disjoint: bool = False,
                 temporal_strategy: str = "uniform", time_attr: Optional[str] = None,
                 weight_attr: Optional[str] = None, transform: Optional[Callable] = None,
                 transform_sampler_output: Optional[Callable] = None, is_sorted: bool = False,
                 filter_per_worker: Optional[bool] = None, neighbor_sampler: Any = None,
                 directed: bool = True, **kwargs: Any):
        del is_sorted
        schema = schema_of(data)
        if input_time is not None and time_attr is None:
            raise ValueError("Received conflicting 'input_time' and 'time_attr' arguments: "
                             "'input_time' is set while 'time_attr' is not set.")
        _refuse_sampler(neighbor_sampler)
        sampling = sampling_of(schema, num_neighbors, replace=replace, subgraph_type=subgraph_type,
                               disjoint=disjoint, temporal_strategy=temporal_strategy,
                               time_attr=time_attr, weight_attr=weight_attr, directed=directed)
        arguments = _DataLoaderArguments(kwargs)
        self.input_nodes = input_nodes
        self.input_time = None if input_time is None else input_time.cpu()
        self.filter_per_worker = filter_per_worker
        node_type, nodes, input_id = _input_nodes(schema, data, input_nodes, arguments.input_id,
                                                  sampling.disjoint)
        self.input_id = input_id
        self.input_type = None if schema.homogeneous else node_type
        self.node_sampler = NeighborSampler(
            data, num_neighbors, subgraph_type=subgraph_type, replace=replace, disjoint=disjoint,
            temporal_strategy=temporal_strategy, time_attr=time_attr, weight_attr=weight_attr,
            directed=directed)
        self._node_type = node_type
        self._nodes = nodes
        if nodes is None and time_attr is not None:
            nodes = self._nodes = schema.to_pyg(node_type, schema.graph.nodes(node_type).torch())
        times = self.input_time
        if times is None and time_attr is not None:
            times = own_times(schema, sampling, node_type, nodes, "input_time")
        _check_times("input_time", times, nodes)
        seeds = None if nodes is None else schema.seeds(node_type, nodes)
        super().__init__(data, sampling, (node_type, seeds), times, arguments, transform,
                         transform_sampler_output)

    @property
    def dataset(self) -> range:
        """Of the positions of the input nodes, as PyG has it."""
        return range(self._schema.num_nodes[self._node_type] if self._nodes is None
                     else self._nodes.numel())

    def __call__(self, index: Any) -> Any:
        """The batch around some of the input nodes, by their positions, here and now."""
        index = torch.as_tensor(index)
        nodes = index if self._nodes is None else self._nodes[index]
        if self._nodes is None:
            nodes = self._schema.to_pyg(
                self._node_type, self._schema.graph.nodes(self._node_type).torch()[index])
        inputs = NodeSamplerInput(input_id=self._given_ids(index), node=nodes,
                                  time=None if self.input_time is None else self.input_time[index],
                                  input_type=self.input_type)
        out = self.node_sampler.sample_from_nodes(inputs)
        return _fetched(self, out)

    def _given_ids(self, positions: Tensor) -> Tensor:
        return positions if self.input_id is None else self.input_id[positions]

    def _add_seeds(self, sampled: SampledBatch, out: Any) -> None:
        positions = self._input_id(sampled)
        time = None if self.input_time is None else self.input_time[positions]
        out.metadata = (None if positions is None else self._given_ids(positions), time,
                        len(sampled.batch.seeds))

    def _add_metadata(self, out: Any, data: Any) -> None:
        store = data if self._schema.homogeneous else data[self._node_type]
        store.input_id, store.seed_time, store.batch_size = out.metadata


class LinkNeighborLoader(_BatchLoader):
    """torch_geometric.loader.LinkNeighborLoader over a graph on servers, for links of one node type
    or of two: as NeighborLoader, which tells what it takes beyond PyG.

    edge_label_index is a tensor [2, n], (edge type, tensor), or an edge type, or None, of which all
    edges are brought here (up to 64 Mi). Negatives are drawn by the library, from the whole graph, the
    same ones by the same run_seed; as PyG's some may be edges. Not with times of nodes, which PyG's
    negatives heed: NotImplementedError names what draws such. Beyond PyG:
        exact_negatives=True   none is an edge of the graph that is served
        same={"topic": 0.5}    of "triplet": of each link's negatives this share, rounded down, has the
                               value that its own target has of an attribute with one number a node
                               (conditional negatives, as Graph-Learn's); they come first. Where no
                               such target is left, a batch raises FailedPrecondition
        shared_negatives=True  of "triplet": the links of a batch have the same negatives, so that it
                               has fewer nodes; with exact_negatives but those that are a link's edges,
                               which are drawn again for links with such an edge
        in_batch_negatives=True  of "triplet": negatives are targets of the batch's links, so that it
                               has no further nodes; none of a link is a link of the batch
        exclude="self"         no batch has edges that join one of its links, which PyG's have; with
                               "reverse" none that lead back, of reverse_edge_type=; without it, of
                               the links' own type, or, where their ends are of two node types, of the
                               only type that leads back. Fanouts are filled from what is left
    Weights of NegativeSampling, src_weight and dst_weight, have an entry for each node, as masks do.
    """

    def __init__(self, data: Any, num_neighbors: Any, edge_label_index: Any = None,
                 edge_label: Optional[Tensor] = None, edge_label_time: Optional[Tensor] = None,
                 replace: bool = False, subgraph_type: Any = "directional", disjoint: bool = False,
                 temporal_strategy: str = "uniform", neg_sampling: Any = None,
                 neg_sampling_ratio: Any = None, time_attr: Optional[str] = None,
                 weight_attr: Optional[str] = None, transform: Optional[Callable] = None,
                 transform_sampler_output: Optional[Callable] = None, is_sorted: bool = False,
                 filter_per_worker: Optional[bool] = None, neighbor_sampler: Any = None,
                 directed: bool = True, **kwargs: Any):
        del is_sorted
        schema = schema_of(data)
        if (edge_label_time is not None) != (time_attr is not None):
            raise ValueError(f"Received conflicting 'edge_label_time' and 'time_attr' arguments: "
                             f"'edge_label_time' is {'not ' if edge_label_time is None else ''}set, "
                             f"'time_attr' is {'not ' if time_attr is None else ''}set.")
        _refuse_sampler(neighbor_sampler)
        negatives = _negatives(neg_sampling, neg_sampling_ratio, edge_label)
        exact_negatives = bool(kwargs.pop("exact_negatives", False))
        shared, in_batch = (bool(kwargs.pop(f"{each}_negatives", False))
                            for each in ("shared", "in_batch"))
        same = dict(kwargs.pop("same", None) or {})
        beyond = [name for name, given in (
            ("exact_negatives", exact_negatives), ("same", same), ("shared_negatives", shared),
            ("in_batch_negatives", in_batch)) if given]
        excluded = {"exclude": kwargs.pop("exclude", "none")}
        reverse = kwargs.pop("reverse_edge_type", None)
        if reverse is not None:
            excluded["reverse_edge_type"] = schema.edge_name(schema.edge_type(reverse))
        sampling = sampling_of(schema, num_neighbors, replace=replace, subgraph_type=subgraph_type,
                               disjoint=disjoint, temporal_strategy=temporal_strategy,
                               time_attr=time_attr, weight_attr=weight_attr, directed=directed)
        arguments = _DataLoaderArguments(kwargs)
        self.edge_label_index = edge_label_index
        self.neg_sampling = negatives
        self.filter_per_worker = filter_per_worker
        self.input_id = arguments.input_id
        self._edge_type, ends = _input_links(schema, data, edge_label_index)
        if edge_label is not None and len(edge_label) != ends.size(1):
            raise ValueError(f"edge_label has {len(edge_label)} entries for {ends.size(1)} links")
        if negatives is not None and negatives.is_binary() and edge_label is not None \
                and edge_label.min() == 0:
            edge_label = edge_label + 1  # as PyG: 0 is for negatives
        self.input_type = None if schema.homogeneous else self._edge_type
        self.input_data = EdgeSamplerInput(input_id=self.input_id, row=ends[0], col=ends[1],
                                           label=edge_label, time=edge_label_time,
                                           input_type=self.input_type)
        self.link_sampler = NeighborSampler(
            data, num_neighbors, subgraph_type=subgraph_type, replace=replace, disjoint=disjoint,
            temporal_strategy=temporal_strategy, time_attr=time_attr, weight_attr=weight_attr,
            directed=directed)
        _check_times("edge_label_time", edge_label_time, ends[0])
        if sampling.node_times and negatives is not None:
            raise NotImplementedError(
                "negatives of a LinkNeighborLoader are drawn whatever their times, and with times of "
                "nodes PyG's are not later than their link: torch_geometric.loader.LinkLoader with "
                "vicinity_graph.pyg.NeighborSampler draws such")
        if beyond and negatives is None:
            raise ValueError(f"{beyond[0]} is of neg_sampling, which is not given")
        self._is_ahead_alone = bool(beyond) or excluded["exclude"] != "none"
        arguments.options.update(excluded)
        if negatives is not None:
            arguments.options["negatives"] = {
                "mode": negatives.mode.value, "amount": negatives.amount,
                "exact": exact_negatives, "same": _same(schema, self._edge_type, same),
                "shared": shared, "in_batch": in_batch}
        arguments.options.update(_weights(schema, self._edge_type, negatives))
        seeds = (schema.edge_name(self._edge_type), _link_seeds(schema, self._edge_type, ends))
        super().__init__(data, sampling, seeds, self.input_data.time, arguments, transform,
                         transform_sampler_output)

    @property
    def dataset(self) -> range:
        """Of the positions of the links, as PyG has it."""
        return range(self.input_data.row.numel())

    def __call__(self, index: Any) -> Any:
        """The batch around some of the links, by their positions, here and now."""
        if self._is_ahead_alone:
            raise NotImplementedError("exact_negatives, same, shared_negatives, in_batch_negatives and "
                                      "exclude are of the batches that are made ahead, not of a call")
        return _fetched(self, self.link_sampler.sample_from_edges(
            self.input_data[torch.as_tensor(index)], self.neg_sampling))

    def _add_seeds(self, sampled: SampledBatch, out: Any) -> None:
        positions = self._input_id(sampled)
        sources, targets = (end.torch().to(torch.int64) for end in sampled.batch.links)
        drawn = [] if self.neg_sampling is None else \
            [end.torch().to(torch.int64) for end in sampled.batch.negatives]
        if self._sampling.disjoint:
            self._merge_trees(out, sources.numel(), sum(end.numel() for end in drawn))
        input_id = positions if positions is None or self.input_id is None \
            else self.input_id[positions]
        time = None if self.input_data.time is None else self.input_data.time[positions]
        if self.neg_sampling is not None and self.neg_sampling.is_triplet():
            negatives = drawn[0].view(sources.numel(), -1).squeeze(-1)
            out.metadata = (input_id, sources, targets, negatives, time)
            return
        label = self.input_data.label
        if label is None and drawn:
            label = torch.ones(sources.numel())
        elif label is not None:
            label = None if positions is None else label[positions]  # of homes nobody knows which
        if drawn:
            sources, targets = torch.cat([sources, drawn[0]]), torch.cat([targets, drawn[1]])
            if label is not None:
                label = torch.cat([label, label.new_zeros((drawn[0].numel(), *label.shape[1:]))])
            if time is not None:  # negatives have those of the links in turn
                time = time.repeat(-(-sources.numel() // time.numel()))[:sources.numel()]
        out.metadata = (input_id, torch.stack([sources, targets]), label, time)

    def _merge_trees(self, out: Any, num_links: int, num_drawn: int) -> None:
        """The trees of a link's ends, and of its negatives, have its number."""
        def link_of(trees: Tensor) -> Tensor:
            drawn = trees - 2 * num_links
            if self.neg_sampling is not None and self.neg_sampling.is_triplet():
                drawn = torch.div(drawn, self.neg_sampling.amount, rounding_mode="floor")
            elif num_drawn > 0:  # two lists, of which any number of pairs is a link's
                drawn = drawn % (num_drawn // 2) % num_links
            return torch.where(trees < 2 * num_links, trees % num_links, drawn)

        if isinstance(out.batch, dict):
            out.batch = {node_type: link_of(trees) for node_type, trees in out.batch.items()}
        else:
            out.batch = link_of(out.batch)

    def _add_metadata(self, out: Any, data: Any) -> None:
        homogeneous = self._schema.homogeneous
        links = data if homogeneous else data[self._edge_type]
        links.input_id = out.metadata[0]
        if self.neg_sampling is None or self.neg_sampling.is_binary():
            links.edge_label_index, links.edge_label, links.edge_label_time = out.metadata[1:]
            return
        sources = data if homogeneous else data[self._edge_type[0]]
        targets = data if homogeneous else data[self._edge_type[2]]
        _, sources.src_index, targets.dst_pos_index, targets.dst_neg_index, time = out.metadata
        sources.seed_time = targets.seed_time = time


def _check_times(name: str, times: Optional[Tensor], seeds: Tensor) -> None:
    if times is not None and (times.dtype != torch.int64 or times.shape != seeds.shape):
        raise ValueError(f"{name} is {times.dtype} {list(times.shape)}: give int64 "
                         f"{list(seeds.shape)}")


def _refuse_sampler(neighbor_sampler: Any) -> None:
    if neighbor_sampler is not None:
        raise NotImplementedError("neighbor_sampler= samples in this process's memory: a sampler of "
                                  "yours is for torch_geometric.loader.NodeLoader")


def _negatives(neg_sampling: Any, ratio: Any,
               edge_label: Optional[Tensor]) -> Optional[NegativeSampling]:
    if ratio is not None and ratio != 0.0:
        neg_sampling = NegativeSampling("binary", ratio)
    neg_sampling = NegativeSampling.cast(neg_sampling)
    if neg_sampling is None:
        return None
    if neg_sampling.is_triplet() and edge_label is not None:
        raise ValueError("'edge_label' needs to be undefined for 'triplet'-based negative sampling. "
                         "Please use `src_index`, `dst_pos_index` and `neg_pos_index` of the returned "
                         "mini-batch instead to differentiate between positive and negative samples.")
    return neg_sampling


def _weights(schema: Schema, edge_type: EdgeType,
             negatives: Optional[NegativeSampling]) -> Dict[str, Tensor]:
    """Those of the nodes of both ends as the library's loader takes them. Triplets draw no sources:
    PyG's leave src_weight alone, too."""
    if negatives is None:
        return {}
    given = {"negative_weights": (edge_type[2], negatives.dst_weight)}
    if negatives.is_binary():
        given["negative_source_weights"] = (edge_type[0], negatives.src_weight)
    return {name: schema.by_node(node_type, weight, name)
            for name, (node_type, weight) in given.items() if weight is not None}


def _same(schema: Schema, edge_type: EdgeType, shares: Dict[str, float]) -> str:
    """As the library has it, by columns of the links' target type."""
    columns = {attribute.name: attribute.column for attribute in schema.attributes[edge_type[2]]}
    return ", ".join(f"{columns.get(name, name)}={float(share)!r}" for name, share in shares.items())


def _input_nodes(schema: Schema, data: Any, input_nodes: Any,
                 input_id: Optional[Tensor],
                 disjoint: bool) -> Tuple[str, Optional[Tensor], Optional[Tensor]]:
    """Node type; PyG's ids, None for all nodes; and what input_id is to be of each, None for its
    position."""
    node_type, nodes = None, input_nodes
    if isinstance(input_nodes, TensorAttr):
        node_type, nodes = input_nodes.group_name, data[0].get_tensor(input_nodes)
    elif isinstance(input_nodes, str):
        node_type, nodes = input_nodes, None
    elif isinstance(input_nodes, tuple) and len(input_nodes) == 2 \
            and isinstance(input_nodes[0], (str, type(None))):
        node_type, nodes = input_nodes
    if node_type is None and not schema.homogeneous:
        raise ValueError("input_nodes of a heterogeneous graph are (node type, nodes), with one of "
                         f"{schema.node_types}")
    node_type = schema.node_type(node_type)
    if nodes is None:
        return node_type, None, input_id
    nodes = torch.as_tensor(nodes)
    if nodes.dtype == torch.bool:
        if input_id is None:
            input_id = nodes.cpu().nonzero().view(-1)
        nodes = schema.of_mask(node_type, nodes)
    if nodes.dim() != 1 or nodes.is_floating_point():
        raise ValueError(f"input_nodes are {nodes.dtype} {list(nodes.shape)}: give ids, [n], or a mask")
    if not disjoint and nodes.unique().numel() != nodes.numel():
        values, counts = nodes.unique(return_counts=True)
        raise ValueError(f"input_nodes have node {values[counts > 1][0].item()} more than once: a "
                         "batch that is not disjoint has each node once, and its first batch_size rows "
                         "are its seeds'")
    if input_id is not None and input_id.numel() != nodes.numel():
        raise ValueError(f"input_id has {input_id.numel()} entries for {nodes.numel()} input nodes")
    return node_type, nodes, input_id


def _input_links(schema: Schema, data: Any, links: Any) -> Tuple[EdgeType, Tensor]:
    """Edge type, and PyG's ids of sources and targets: int64 [2, n]."""
    edge_type, ends = None, links
    if isinstance(links, (list, tuple)) and not isinstance(links[0], (Tensor, list)):
        named = isinstance(links[0], str)  # an edge type alone
        edge_type, ends = (links, None) if named else links
    if edge_type is None and not schema.homogeneous:
        raise ValueError("edge_label_index of a heterogeneous graph is (edge type, tensor), with one "
                         f"of {schema.edge_types}")
    edge_type = schema.edge_type(edge_type)
    if ends is None:
        _, graph_store = data
        sources, targets = graph_store.get_edge_index(
            edge_type=None if schema.homogeneous else edge_type, layout="coo")
        return edge_type, torch.stack([sources, targets])
    ends = torch.stack(list(ends)) if isinstance(ends, (list, tuple)) else torch.as_tensor(ends)
    if ends.dim() != 2 or ends.size(0) != 2 or ends.is_floating_point():
        raise ValueError(f"edge_label_index is {ends.dtype} {list(ends.shape)}: give ids, [2, n]")
    return edge_type, ends.to("cpu", torch.int64)


def _link_seeds(schema: Schema, edge_type: EdgeType, ends: Tensor) -> Any:
    types: List[str] = [edge_type[0], edge_type[2]]
    if not any(map(schema.has_names, types)):
        return [end.contiguous() for end in ends]
    return GlobalIds([schema.to_global(node_type, end) for node_type, end in zip(types, ends)])


def _fetched(loader: Any, out: Any) -> Any:
    """A sample with the rows that PyG's loader would fetch for it."""
    from torch_geometric.loader import LinkLoader, NodeLoader  # pylint: disable=import-outside-toplevel

    if isinstance(loader, NeighborLoader):
        made = NodeLoader(loader.data, loader.node_sampler,
                          input_nodes=(loader.input_type, torch.empty(0, dtype=torch.int64))
                          if loader.input_type else torch.empty(0, dtype=torch.int64),
                          transform=loader.transform,
                          transform_sampler_output=loader.transform_sampler_output,
                          custom_cls=loader.custom_cls)
    else:
        ends = torch.empty(2, 0, dtype=torch.int64)
        made = LinkLoader(loader.data, loader.link_sampler,
                          edge_label_index=(loader.input_type, ends),
                          neg_sampling=loader.neg_sampling,
                          transform=loader.transform,
                          transform_sampler_output=loader.transform_sampler_output,
                          custom_cls=loader.custom_cls)
    return made.filter_fn(out)
