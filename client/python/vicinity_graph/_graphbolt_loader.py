"""Minibatches of GraphBolt's that the library makes ahead."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Tuple

import torch
from dgl import graphbolt

from ._graphbolt_parts import check_distinct, homogeneous, plain, subgraphs
from .batch import Batch
from .graph import Graph
from .loader import Loader

_PLACE = "_vicinity_place"  # of a minibatch: run_seed, epoch, batches done


class MiniBatchLoader:
    """GraphBolt's minibatches from a Loader, in the place of a whole pipeline: seeds, samples and rows,
    several minibatches ahead, dealt to several trainers.

        loader = MiniBatchLoader(graph, [15, 10], batch_size=1024, columns=[("paper", "features")])
        for minibatch in loader:
            out = model(minibatch.blocks, minibatch.node_features["features"])

    Its arguments are those of graph.loader, the hop next to the seeds first in fanouts. A minibatch has
    seed_nodes, or node_pairs and compacted_node_pairs where seeds are links (with negatives of mode
    "triplet" negative_dsts and compacted_negative_dsts, [n, amount]); labels of nodes; node_features
    and edge_features, by their names alone in a homogeneous graph, else by (type, name); and with
    edge_ids=True original_edge_ids.

    Threads:  as Loader.
    Errors:   as Loader; ValueError for a batch that has a node twice among its seeds;
              NotImplementedError for negatives of mode "binary", which are pairs of their own.
    """

    def __init__(self, graph: Graph, fanouts: Any, **options: Any):
        if options.get("negatives", {}).get("mode") == "binary":
            raise NotImplementedError(
                "negatives of mode \"binary\" are pairs, whose sources are no links' sources: a "
                "MiniBatch has no place for them; there is mode \"triplet\"")
        self._graph = graph
        self._options = options
        self._loader: Loader = graph.loader(fanouts, **options)

    def __len__(self) -> int:
        """Minibatches an epoch, the same for every trainer."""
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        """A pass over the epoch that is next when it begins; it ends the one before."""
        for batch in self._loader:
            minibatch = self._minibatch(batch)
            setattr(minibatch, _PLACE, (self._run_seed, batch.epoch, batch.batches_done))
            yield minibatch

    @property
    def _run_seed(self) -> int:
        return self._options.get("run_seed", 0)

    def _minibatch(self, batch: Batch) -> Any:
        nodes, sampled = subgraphs(self._graph, batch, self._options.get("edge_ids", False))
        given = dict(sampled_subgraphs=sampled, input_nodes=nodes,
                     node_features=self._node_features(batch),
                     edge_features=self._edge_features(batch))
        if len(batch.seed_types) > 1:
            return graphbolt.MiniBatch(**given, **self._links(batch))
        ids = batch.nodes(batch.seed_type).torch()[batch.seeds.torch().long()]
        check_distinct(batch, {batch.seed_type: ids})
        labels = batch.labels.torch() if batch.has_labels else None
        return graphbolt.MiniBatch(
            **given, seed_nodes=self._of_type(batch.seed_type, ids),
            labels=None if labels is None else self._of_type(batch.seed_type, labels))

    def _of_type(self, name: str, value: Any) -> Any:
        return plain(self._graph, {name: value})

    def _links(self, batch: Batch) -> Dict[str, Any]:
        edge_type = self._options["seeds"][0]
        source_type, target_type = batch.seed_types[:2]
        sources, targets = (end.torch().long() for end in batch.links)
        from_ids, to_ids = (batch.nodes(each).torch() for each in (source_type, target_type))
        found = {"node_pairs": (from_ids[sources], to_ids[targets]),
                 "compacted_node_pairs": (sources, targets)}
        if len(batch.seed_types) > 2:
            drawn = batch.negatives[0].torch().long().view(sources.numel(), -1)
            found.update(negative_dsts=to_ids[drawn], compacted_negative_dsts=drawn)
        return {name: self._of_type(edge_type, value) for name, value in found.items()}

    def _named(self, type_name: str, column: str) -> Any:
        return column if homogeneous(self._graph) else (type_name, column)

    def _node_features(self, batch: Batch) -> Dict[Any, torch.Tensor]:
        return {self._named(*key): rows.torch() for key, rows in batch.columns.items()}

    def _edge_features(self, batch: Batch) -> Any:
        """A dict a layer, the outermost first."""
        by_layer: list = [{} for _ in range(batch.num_hops)]
        for (hop, edge_type, column), rows in batch.edge_columns.items():
            by_layer[batch.num_hops - 1 - hop][self._named(edge_type, column)] = rows.torch()
        return by_layer

    def state_dict(self) -> Dict[str, Any]:
        """Where training is: see vicinity_graph.Loader.state_dict()."""
        return self._loader.state_dict()

    def state_behind(self, minibatch: Any) -> Dict[str, Any]:
        """The state_dict() behind a minibatch of this loader, whichever were taken since: see
        vicinity_graph.Loader.state_behind(). ValueError for one of another run_seed, or of none."""
        place: Tuple[int, int, int] = getattr(minibatch, _PLACE, (-1, 0, 0))
        if place[0] != self._run_seed:
            raise ValueError("this is no minibatch of the loader: " + (
                "it was made by none" if place[0] == -1 else f"it was drawn with run_seed {place[0]}"))
        return self._loader.state_at(*place[1:])

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Has the next pass go on there: see vicinity_graph.Loader.load_state_dict()."""
        self._loader.load_state_dict(state)

    def stats(self) -> Dict[str, Any]:
        """Where the time went and where rows came from, as vicinity_graph.Loader.stats()."""
        return self._loader.stats()

    def close(self) -> None:
        """Stops working ahead."""
        self._loader.close()

    def __enter__(self) -> MiniBatchLoader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
