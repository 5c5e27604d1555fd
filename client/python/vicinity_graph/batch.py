"""One minibatch: blocks over lists of nodes, and the rows of those."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import _given, _library
from ._library import Handle, call_for_pointer, check, lib
from .errors import NotFound
from .ragged import Ragged
from .tensors import CPU, Tensor

if TYPE_CHECKING:
    from .graph import Graph


def _info(kind, function, *arguments):
    info = kind()
    check(function(*arguments, ctypes.byref(info)))
    return info


class Block:
    """One hop along one edge type. Target i is node first_target + i of the target type's nodes;
    its sampled neighbours are sources[offsets[i]] .. sources[offsets[i + 1] - 1], positions in the
    source type's nodes, all below num_sources.
    """

    def __init__(self, batch: Batch, index: int, graph: Graph):
        info = _info(_library.BlockInfo, lib.vicinity_batch_block, batch.handle, index)
        self._batch = batch
        self._index = index
        self.hop = info.hop  # 0 is next to the seeds
        self.edge_type = graph.edge_types[info.edge_type]
        self.source_type = graph.node_types[info.source_type]
        self.target_type = graph.node_types[info.target_type]
        self.first_target = info.first_target
        self.num_targets = info.num_targets
        self.num_sources = info.num_sources
        self.num_edges = info.num_edges

    def __repr__(self) -> str:
        return (f"<Block hop {self.hop} along {self.edge_type}: {self.num_targets} targets from "
                f"{self.first_target}, {self.num_sources} sources, {self.num_edges} edges>")

    @property
    def offsets(self) -> Tensor:
        """int64 [num_targets + 1]"""
        return self._batch.part(_library.BLOCK_OFFSETS, self._index)

    @property
    def sources(self) -> Tensor:
        """int32 [num_edges]"""
        return self._batch.part(_library.BLOCK_SOURCES, self._index)

    @property
    def targets(self) -> Tensor:
        """Of each edge its i: int32 [num_edges], made when it is asked for."""
        return self._batch.part(_library.BLOCK_TARGETS, self._index)

    @property
    def edge_ids(self) -> Tensor:
        """With edge_ids=True: int64 [num_edges], positions in the user's input."""
        return self._batch.part(_library.BLOCK_EDGE_IDS, self._index)


class Batch:
    """One minibatch of a loader: nodes by type, blocks of edges between them, rows and labels.

    With subgraph="induced" it is one hop: a block an edge type, whose targets are all nodes.

    Threads:  any number at once.
    Lifetime: it and its tensors outlive loader and graph.
    Errors:   NotFound for a type or column that it has not, naming those that it has; a tensor
              that the loader was not asked for is NotFound when it is first looked at.
    """

    def __init__(self, pointer: int, graph: Graph):
        self.handle = Handle(pointer, lib.vicinity_batch_release)
        info = _info(_library.BatchInfo, lib.vicinity_batch_info, self.handle)
        self.epoch = info.epoch
        self.step = info.step
        #: Of the epoch, by all trainers together, once each has trained on its batch of this step.
        self.batches_done = info.batches_done
        self.num_hops = info.num_hops
        self.has_labels = bool(info.has_labels)
        #: Names of all that the graph has.
        self.node_types: List[str] = graph.node_types
        self.edge_types: List[str] = graph.edge_types
        self._described = graph.description["node_types"]
        #: The node types of the lists of seeds: of nodes one, of links those of their ends, then
        #: those of negatives.
        self.seed_types: List[str] = [self._seed_list_type(i) for i in range(info.num_seed_lists)]
        #: Hop by hop, the seeds' first.
        self.blocks: List[Block] = [Block(self, i, graph) for i in range(info.num_blocks)]
        #: By node type and column, the tensors of rows; row i is that of the type's i-th node.
        self.columns: Dict[Tuple[str, str], Tensor] = dict(self._column(i) for i in range(info.num_columns))
        #: By hop, edge type and column, the rows of a block's edges.
        self.edge_columns: Dict[Tuple[int, str, str], Tensor] = dict(
            self._edge_column(i, graph) for i in range(info.num_edge_columns))

        #: By node type and column, the rows of ragged columns; row i is that of the type's i-th node.
        self.ragged: Dict[Tuple[str, str], Ragged] = dict(
            self._ragged(i) for i in range(info.num_ragged))

    def __repr__(self) -> str:
        nodes = ", ".join(f"{len(self.nodes(each))} {each}" for each in self.node_types)
        columns = ", ".join(f"{node_type}.{name}"
                            for node_type, name in [*self.columns, *self.ragged]) or "none"
        kind = "links" if len(self.seed_types) > 1 else "seeds"
        return (f"<Batch of epoch {self.epoch}, step {self.step}: "
                f"{len(self.part(_library.SEEDS))} {kind} of {' and '.join(self.seed_types[:2])}; nodes: "
                f"{nodes}; blocks: {len(self.blocks)}; columns: {columns}>")

    def _seed_list_type(self, index):
        info = _info(_library.SeedListInfo, lib.vicinity_batch_seed_list, self.handle, index)
        return self.node_types[info.node_type]

    @property
    def seed_type(self) -> str:
        """The node type of the seeds; of links, that of their sources."""
        return self.seed_types[0]

    def part(self, part: int, index: int = 0, device: Tuple[int, int] = (CPU, 0),
             layout: Any = None) -> Tensor:
        """A tensor of one of the library's parts; for the package's own use."""
        handle = self.handle  # the batch stays as long as the tensor

        def make(stream):
            return call_for_pointer(lib.vicinity_batch_tensor, handle, part, index, stream)

        return Tensor(make, device, layout)

    def _column(self, index):
        info = _info(_library.ColumnInfo, lib.vicinity_batch_column, self.handle, index)
        key = self.node_types[info.node_type], info.name.decode()
        tensor = self.part(_library.COLUMN, index, (info.device_type, info.device_id),
                           lambda: self._layout(info.node_type, key[1]))
        return key, tensor

    def _layout(self, node_type, name):
        """dtype and shape, without the tensor: one on a device can be asked for only once."""
        column, = [each for each in self._described[node_type]["columns"] if each["name"] == name]
        dtype = "uint8" if column["dtype"] == "bool" else column["dtype"]
        return dtype, (len(self.part(_library.NODES, node_type)), *column["shape"])

    def _edge_column(self, index, graph):
        info = _info(_library.EdgeColumnInfo, lib.vicinity_batch_edge_column, self.handle,
                     index)
        name = (info.hop, graph.edge_types[info.edge_type], info.name.decode())
        return name, self.part(_library.EDGE_COLUMN, index)

    def _ragged(self, index):
        info = _info(_library.RaggedInfo, lib.vicinity_batch_ragged, self.handle, index)
        indices = self.part(_library.RAGGED_INDICES, index) if info.num_columns > 0 else None
        return (self.node_types[info.node_type], info.name.decode()), Ragged(
            self.part(_library.RAGGED_ROW_ENDS, index), self.part(_library.RAGGED_VALUES, index),
            indices, info.num_columns)

    def _type(self, node_type):
        return _given.position(self.seed_type if node_type is None else node_type, "node type",
                               self.node_types)

    def _edge_type(self, edge_type):
        if edge_type is None and len(self.edge_types) == 1:
            return 0
        return _given.position(edge_type, "edge type", self.edge_types)

    def nodes(self, node_type: Optional[str] = None) -> Tensor:
        """Global ids of the batch's nodes of a type (of the seeds'), in the order in which sampling
        met them, seeds first: int64 [n]."""
        return self.part(_library.NODES, self._type(node_type))

    def hop_ends(self, node_type: Optional[str] = None) -> Tensor:
        """How many of them were known after each hop, [0] being the seeds: int64 [hops + 1]."""
        return self.part(_library.HOP_ENDS, self._type(node_type))

    def trees(self, node_type: Optional[str] = None) -> Tensor:
        """With disjoint=True: of each node the seed whose tree it is in: int32 [n]."""
        return self.part(_library.TREES, self._type(node_type))

    def user_ids(self, node_type: Optional[str] = None) -> Tensor:
        """With user_ids=True, of a type whose ids are integers: of nodes(node_type) the user's ids,
        int64 [n]."""
        return self.part(_library.USER_IDS, self._type(node_type))

    def has_names(self, node_type: str) -> bool:
        """Whether the user's ids of a type are strings."""
        return self._described[self._type(node_type)]["id_kind"] == "string"

    @property
    def seeds(self) -> Tensor:
        """Of each seed its position among the nodes: int32 [batch size]; seeds may repeat."""
        if len(self.seed_types) > 1:
            raise NotFound("the batch's seeds are links: their ends are in `links`")
        return self.part(_library.SEEDS)

    @property
    def links(self) -> Tuple[Tensor, Tensor]:
        """Where seeds are links: of their sources, and of their targets, the positions among the
        nodes of seed_types[0] and seed_types[1]: int32 [batch size] each."""
        if len(self.seed_types) < 2:
            raise NotFound("the batch's seeds are nodes, no links: they are in `seeds`")
        return self.part(_library.SEEDS, 0), self.part(_library.SEEDS, 1)

    @property
    def negatives(self) -> Tuple[Tensor, ...]:
        """Of links with negatives, positions among the nodes as those of `links`, int32: with mode
        "binary" the sources and the targets of the pairs, [n] each; with "triplet" targets alone,
        [batch size * amount], first all those of the first link."""
        if len(self.seed_types) < 3:
            raise NotFound("the batch has no negatives: they are an option of loaders of links, "
                           "negatives={'mode': 'binary' or 'triplet'}")
        return tuple(self.part(_library.SEEDS, i) for i in range(2, len(self.seed_types)))

    @property
    def input_positions(self) -> Tensor:
        """Of each seed or link, which of the loader's it is, counted in the list that was given (of a
        mask, among those chosen) or, of a split, in graph.nodes(): int64 [batch size]. NotFound with
        seed_policy="home"."""
        return self.part(_library.INPUT_POSITIONS)

    def edge_index(self, edge_type: Optional[str] = None) -> Tensor:
        """All sampled edges of a type (of the only one), hop by hop, as pairs of a source and a target,
        positions among the nodes of their types: int64 [2, num_edges], made when it is asked for."""
        return self.part(_library.EDGE_INDEX, self._edge_type(edge_type))

    def edge_ids(self, edge_type: Optional[str] = None) -> Tensor:
        """With edge_ids=True: of those edges the positions in the user's input, int64 [num_edges]."""
        return self.part(_library.EDGE_IDS, self._edge_type(edge_type))

    @property
    def labels(self) -> Tensor:
        """Of each seed, -1: none. int64 [batch size]."""
        return self.part(_library.LABELS)

    def column(self, name: str, node_type: Optional[str] = None) -> Tensor:
        """Rows of one of the loader's columns, of the seeds' type unless another is named: [n,
        *shape], row i being that of nodes(node_type)[i]."""
        key = self.seed_type if node_type is None else node_type, name
        if key in self.ragged:
            raise NotFound(f"column {key} is ragged: ask for ragged_column")
        return self._asked_for(self.columns, key, "column")

    def ragged_column(self, name: str, node_type: Optional[str] = None) -> Ragged:
        """Rows of one of the loader's ragged columns, likewise."""
        key = self.seed_type if node_type is None else node_type, name
        return self._asked_for(self.ragged, key, "ragged column")

    @staticmethod
    def _asked_for(columns, key, what):
        if key not in columns:
            raise NotFound(f"the batch has no {what} {key}; the loader was asked for these: "
                           f"{', '.join(map(str, columns)) or 'none'}")
        return columns[key]
