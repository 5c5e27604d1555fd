"""Minibatches for a training loop: sampled, their rows fetched and laid out, several ahead."""

from __future__ import annotations

import ctypes
import zlib
from typing import TYPE_CHECKING, Any, Dict, Optional

from . import _given
from . import options as _options
from . import seeds as _seeds
from ._batch_loader import BatchLoader
from ._library import SEEDS_MASK, Handle, call_for_pointer, lib
from .batch import Batch
from .option_types import Fanouts, LoaderOptions
from .seeds import Seeds

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .graph import Graph


@_options.documents(_options.LOADER, LoaderOptions,
                    {"seeds": (Seeds, "train"), "seed_times": (Any, None),
                     "negative_weights": (Any, None), "negative_source_weights": (Any, None)},
                    graph="Graph", fanouts=Fanouts)
class Loader(BatchLoader[Batch]):
    """Batches of a graph.

        loader = graph.loader([15, 10, 5], batch_size=1024, columns=[("node", "features")])
        for batch in loader:          # an epoch; the next `for` is the next epoch
            train(batch)

    fanouts are one number a hop, or for each hop a list with one number an edge type, in the order
    of graph.edge_types. columns and edge_columns are pairs of a type's name and a column's.

    seeds are the nodes that batches begin from:
        "train", "validation", "test"   those of a split; None: all nodes
        [7, 42], an array, a tensor     of integers: by the ids of the import
        ["ada", "bob"]                  likewise, of a type whose ids are strings
        GlobalIds(graph.nodes(...))     by global ids
        UserIds(batch.user_ids())       by the ids of the import, said
        an array or list of booleans    a mask, one for every node: of dense ids entry i is of node
                                        i, of others they go by rising key (graph.nodes(type))
        (node type, any of these), or {node type: any of these}: as with seed_type
        ("paper:cites:paper", array [2, n] or (sources, targets))   links: batch_size counts
                                        them, and a batch's seeds are its sources, then its targets
                                        (batch.links), then those of negatives (batch.negatives)

    seed_times, with time_column, are integers, one for each seed or link that is listed: its
    neighbourhood has no edge that is later.

    negative_weights, with negatives, are numbers, one for each node of the links' target type in the
    order of graph.nodes(type), which for dense ids is that of the ids: a target is drawn by its
    weight, as by "weight_column" of negatives. negative_source_weights, of "binary", are those of
    sources.

    Workers:  in a worker of a torch.utils.data.DataLoader a loader makes that worker's share of the
              steps. The DataLoader takes batches from its workers in turn, so it gives those that
              the loader would give alone, in the same order. Options step_offset and step_stride
              say it otherwise: step_stride=1, that a worker makes all.
    Order:    a loader has one pass at a time. When another one begins, by its first batch, the one
              before is over: asked for a batch more, it raises FailedPrecondition. For two at once,
              as in zip() or nested loops, make two loaders.
    Threads:  batches are taken by one thread; another that tries gets FailedPrecondition. stats()
              from any.
    Lifetime: it keeps what it needs of its graph, which may be closed. Batches stay when it goes.
    Errors:   a batch that is late raises DeadlineExceeded after batch_timeout_ms, naming the stage;
              an option that is none is InvalidArgument, naming those there are; a seed that the
              graph lacks is NotFound, named with its position.
    """

    def __init__(self, graph: Graph, fanouts: Fanouts, *, seeds: Seeds = _seeds.OF_SPLIT,
                 seed_times: Any = None, negative_weights: Any = None,
                 negative_source_weights: Any = None, **options: Unpack[LoaderOptions]):
        self._fanouts = fanouts
        self._times_checksum: Optional[int] = None  # for states; None: no times
        self._weights_checksum: Optional[int] = None
        super().__init__(graph, dict(options, seeds=seeds, seed_times=seed_times,
                                     negative_weights=negative_weights,
                                     negative_source_weights=negative_source_weights))

    def _open(self, share: Dict[str, int], *, seeds: Seeds, seed_times: Any, negative_weights: Any,
              negative_source_weights: Any, **options: Any) -> Handle:
        given = _given.columns(dict(options, fanouts=self._fanouts, **share))
        listed = _seeds.take(self._graph, seeds, given)
        if seed_times is not None:
            if listed is None:
                raise TypeError("seed_times are of seeds that are listed: GlobalIds(graph.nodes(type, "
                                "split)) lists those of a split")
            if listed.kind == SEEDS_MASK:
                raise TypeError("seed_times are of seeds that are listed, not of a mask")
            listed.times = _given.times(seed_times, listed.count)
            self._times_checksum = zlib.crc32(bytes(_given.ids(seed_times)[0]))
        weights = _given.negative_weights(negative_weights, negative_source_weights)
        self._weights_checksum = None if weights is None else _given.weights_checksum(weights)
        pointer = call_for_pointer(lib.vicinity_loader_create_with_weights, self._graph.handle,
                                   _given.options_text(given),
                                   None if listed is None else ctypes.byref(listed),
                                   None if weights is None else ctypes.byref(weights))
        return Handle(pointer, lib.vicinity_loader_release)

    def __reduce__(self) -> tuple:
        return _make, (self._graph, self._fanouts, self._options), self._loaded()

    def __repr__(self) -> str:
        if self._open_handle is None:
            return "<Loader, closed>"
        return (f"<Loader of {self._graph.description['name']!r}: fanouts {self._fanouts!r}, "
                f"{self.num_seeds} seeds in {len(self)} batches, next epoch {self.next_epoch}>")

    def _batch_of(self, pointer: int) -> Batch:
        return Batch(pointer, self._graph)

    def _drawing(self) -> Dict[str, Any]:
        """What is drawn for the seeds."""
        identity = self._values_of([
            "replace", "disjoint", "weighted_by", "expansion", "subgraph", "time_column",
            "temporal_strategy", "time_window", "time_follows", "where", "draws",
            "layer_dependency", "batch_dependency", "exclude", "reverse_edge_type"])
        negatives, = (each["options"] for each in _options.LOADER if each["name"] == "negatives")
        identity["negatives"] = {**{each["name"]: each["default"] for each in negatives},
                                 **self._options.get("negatives", {})}
        identity["seed_times"] = self._times_checksum
        identity["negative_weights"] = self._weights_checksum
        identity["fanouts"] = [fanout if isinstance(fanout, int) else list(fanout)
                               for fanout in self._fanouts]
        return identity


def _make(graph: Graph, fanouts: Fanouts, options: LoaderOptions) -> Loader:
    return Loader(graph, fanouts, **options)
