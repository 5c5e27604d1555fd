"""One minibatch: blocks over lists of nodes, and the rows of those."""

import ctypes

from . import _library
from ._library import Handle, call_for_pointer, check, lib
from .tensors import CPU, Tensor


def _info(kind, function, *arguments):
    info = kind()
    check(function(*arguments, ctypes.byref(info)))
    return info


class Block:
    """One hop along one edge type. Target i is node first_target + i of the target type's nodes;
    its sampled neighbours are sources[offsets[i]] .. sources[offsets[i + 1] - 1], positions in the
    source type's nodes, all below num_sources.
    """

    def __init__(self, batch, index, graph):
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

    @property
    def offsets(self):
        """int64 [num_targets + 1]"""
        return self._batch.part(_library.BLOCK_OFFSETS, self._index)

    @property
    def sources(self):
        """int32 [num_edges]"""
        return self._batch.part(_library.BLOCK_SOURCES, self._index)

    @property
    def targets(self):
        """Of each edge its i: int32 [num_edges], made when it is asked for."""
        return self._batch.part(_library.BLOCK_TARGETS, self._index)

    @property
    def edge_ids(self):
        """With edge_ids=True: int64 [num_edges], positions in the user's input."""
        return self._batch.part(_library.BLOCK_EDGE_IDS, self._index)


class Batch:
    """What Loader gives. It and its tensors outlive loader and graph."""

    def __init__(self, pointer, graph):
        self.handle = Handle(pointer, lib.vicinity_batch_release)
        info = _info(_library.BatchInfo, lib.vicinity_batch_info, self.handle)
        self.epoch = info.epoch
        self.step = info.step
        self.num_hops = info.num_hops
        self.has_labels = bool(info.has_labels)
        self._node_types = graph.node_types
        self.seed_type = self._node_types[info.seed_type]
        #: Hop by hop, the seeds' first.
        self.blocks = [Block(self, i, graph) for i in range(info.num_blocks)]
        #: By node type and column, the tensors of rows; row i is that of the type's i-th node.
        self.columns = dict(self._column(i) for i in range(info.num_columns))
        #: By hop, edge type and column, the rows of a block's edges.
        self.edge_columns = dict(self._edge_column(i, graph)
                                 for i in range(info.num_edge_columns))

    def part(self, part, index=0, device=(CPU, 0)):
        handle = self.handle  # the batch stays as long as the tensor

        def make(stream):
            return call_for_pointer(lib.vicinity_batch_tensor, handle, part, index, stream)

        return Tensor(make, device)

    def _column(self, index):
        info = _info(_library.ColumnInfo, lib.vicinity_batch_column, self.handle, index)
        tensor = self.part(_library.COLUMN, index, (info.device_type, info.device_id))
        return (self._node_types[info.node_type], info.name.decode()), tensor

    def _edge_column(self, index, graph):
        info = _info(_library.EdgeColumnInfo, lib.vicinity_batch_edge_column, self.handle,
                     index)
        name = (info.hop, graph.edge_types[info.edge_type], info.name.decode())
        return name, self.part(_library.EDGE_COLUMN, index)

    def _type(self, node_type):
        return self._node_types.index(self.seed_type if node_type is None else node_type)

    def nodes(self, node_type=None):
        """Global ids of the batch's nodes of a type (of the seeds'), in the order in which sampling
        met them, seeds first: int64."""
        return self.part(_library.NODES, self._type(node_type))

    def hop_ends(self, node_type=None):
        """How many of them were known after each hop, [0] being the seeds: int64 [hops + 1]."""
        return self.part(_library.HOP_ENDS, self._type(node_type))

    def trees(self, node_type=None):
        """With disjoint=True: of each node the seed whose tree it is in, int32."""
        return self.part(_library.TREES, self._type(node_type))

    @property
    def seeds(self):
        """Of each seed its position among the nodes: int32 [batch size]; seeds may repeat."""
        return self.part(_library.SEEDS)

    @property
    def labels(self):
        """Of each seed, -1: none. int64 [batch size]."""
        return self.part(_library.LABELS)

    def column(self, name, node_type=None):
        """Rows of one of the loader's columns, of the seeds' type unless another is named."""
        return self.columns[(self.seed_type if node_type is None else node_type), name]
