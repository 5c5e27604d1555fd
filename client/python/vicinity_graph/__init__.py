"""Vicinity: minibatches for graph neural networks, sampled from a sharded graph.

    import torch, vicinity_graph

    graph = vicinity_graph.Graph(cluster_file="cluster.textproto")
    for batch in graph.loader([15, 10, 5], columns=[("node", "features")]):
        rows = torch.from_dlpack(batch.column("features"))   # no copy

Graph opens a graph, Loader gives its batches, Batch and Block are what a batch holds, Tensor is an
array that NumPy and PyTorch share; Writer changes a live graph, and ShardChange tells what has changed. Errors of the library are subclasses of VicinityError.

Needs the library libvicinity.so, whose version is __version__, and Python from 3.9 on.
"""

# Not imported before it is asked for: the doctor, a module of this package, runs without the library
# to say what is wrong with it.
import importlib as _importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._library import VERSION as __version__
    from .batch import Batch, Block
    from .change_log import ChangePart, ShardChange, ShardCursor
    from .errors import (Aborted, AlreadyExists, Cancelled, DataLoss, DeadlineExceeded,
                         FailedPrecondition, Internal, InvalidArgument, NotFound, PermissionDenied,
                         RefusedRows, ResourceExhausted, Unauthenticated, Unavailable,
                         VicinityError)
    from .graph import Graph
    from .loader import Loader
    from .query import PreparedQuery, Query, QueryAnswer, StepAnswer
    from .query_loader import QueryBatch, QueryLoader
    from .ragged import Ragged
    from .seeds import GlobalIds, UserIds
    from .tensors import Tensor
    from .writer import ChangedRow, Changes, RefusedRow, Writer, Written

__all__ = [
    "Aborted", "AlreadyExists", "Batch", "Block", "Cancelled", "ChangePart", "ChangedRow", "Changes",
    "DataLoss", "DeadlineExceeded", "FailedPrecondition", "GlobalIds", "Graph", "Internal",
    "InvalidArgument", "Loader", "NotFound", "PermissionDenied", "PreparedQuery", "Query",
    "QueryAnswer", "QueryBatch", "QueryLoader", "Ragged", "RefusedRow", "RefusedRows",
    "ResourceExhausted", "ShardChange", "ShardCursor", "StepAnswer", "Tensor", "Unauthenticated",
    "Unavailable", "UserIds", "VicinityError", "Writer", "Written", "__version__",
]

_MODULES = {"Batch": "batch", "Block": "batch", "ChangePart": "change_log", "ChangedRow": "writer",
            "Changes": "writer", "GlobalIds": "seeds", "Graph": "graph", "Loader": "loader",
            "PreparedQuery": "query", "Query": "query", "QueryAnswer": "query", "QueryBatch": "query_loader",
            "QueryLoader": "query_loader", "Ragged": "ragged", "RefusedRow": "writer",
            "ShardChange": "change_log", "ShardCursor": "change_log", "StepAnswer": "query",
            "Tensor": "tensors", "UserIds": "seeds", "Writer": "writer",
            "Written": "writer"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        value = _importlib.import_module("._library", __name__).VERSION
    else:
        module = _importlib.import_module("." + _MODULES.get(name, "errors"), __name__)
        value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list:
    return sorted({*globals(), *__all__})
