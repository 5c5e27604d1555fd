"""A graph, wherever it is: behind servers, mapped on this machine, or both."""

import ctypes
import json

from . import options as _options
from . import tensors
from ._library import Handle, call_for_json, call_for_pointer, lib
from .errors import FailedPrecondition
from .loader import Loader


def _ids(values):
    """An array of int64 for the library, which is only read from, and its length. What has a
    buffer of 64-bit integers is not copied."""
    try:
        view = memoryview(values)
    except TypeError:
        values = values.tolist() if hasattr(values, "tolist") else list(values)
        return (ctypes.c_int64 * len(values))(*values), len(values)
    if view.format not in ("q", "l") or view.itemsize != 8 or not view.c_contiguous or view.readonly:
        values = view.tolist()
        return (ctypes.c_int64 * len(values))(*values), len(values)
    count = view.nbytes // 8
    return (ctypes.c_int64 * count).from_buffer(view), count


@_options.documents(_options.GRAPH)
class Graph:
    """A graph behind the servers of a cluster file, or the dataset of a directory.

        graph = vicinity_graph.Graph(cluster_file="cluster.textproto")

    Threads: any number at once. A process that forks after a graph was opened cannot use it in the
    child (FailedPrecondition): fork before, or let multiprocessing spawn. Graphs and loaders can be
    pickled; they are opened again where they arrive.
    """

    def __init__(self, **options):
        self._options = options
        self._open_handle = Handle(
            call_for_pointer(lib.vicinity_graph_open, json.dumps(options).encode()),
            lib.vicinity_graph_close)
        #: Name, shards, node and edge types with their columns, as vicinity_graph_describe.
        self.description = call_for_json(lib.vicinity_graph_describe, self._open_handle)

    def __reduce__(self):
        return _open, (self._options,)

    @property
    def handle(self):
        if self._open_handle is None:
            raise FailedPrecondition("the graph is closed")
        return self._open_handle

    @property
    def node_types(self):
        """Their names."""
        return [each["name"] for each in self.description["node_types"]]

    @property
    def edge_types(self):
        """Their names, "source:relation:target"."""
        return [each["name"] for each in self.description["edge_types"]]

    def num_nodes(self, node_type):
        return self.description["node_types"][self.node_types.index(node_type)]["num_nodes"]

    def nodes(self, node_type, split=""):
        """Global ids of the nodes of a split, or of all: a Tensor, int64."""
        return tensors.of_call(lib.vicinity_graph_nodes, self.handle, node_type.encode(),
                               split.encode())

    def resolve(self, node_type, user_ids):
        """Global ids of the user's integer ids, -1 for those that the graph lacks: a Tensor."""
        ids, count = _ids(user_ids)
        return tensors.of_call(lib.vicinity_graph_resolve, self.handle, node_type.encode(),
                               ids, count)

    def user_ids(self, node_type, ids):
        """The other way."""
        ids, count = _ids(ids)
        return tensors.of_call(lib.vicinity_graph_user_ids, self.handle,
                               node_type.encode(), ids, count)

    def fetch(self, node_type, column, ids):
        """Rows of a column for global ids, in their order: a Tensor."""
        ids, count = _ids(ids)
        return tensors.of_call(lib.vicinity_graph_fetch, self.handle, node_type.encode(),
                               column.encode(), ids, count)

    def loader(self, fanouts, **options):
        """A Loader of this graph; help(vicinity_graph.Loader) tells the options."""
        return Loader(self, fanouts, **options)

    def close(self):
        """Its loaders go on; calls that are under way end first."""
        self._open_handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _open(options):
    return Graph(**options)
