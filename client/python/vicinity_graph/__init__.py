"""Vicinity: minibatches for graph neural networks, sampled from a sharded graph.

    import torch, vicinity_graph

    graph = vicinity_graph.Graph(cluster_file="cluster.textproto")
    for batch in graph.loader([15, 10, 5], columns=[("node", "features")]):
        rows = torch.from_dlpack(batch.column("features"))   # no copy

Graph opens a graph, Loader gives its batches, Batch and Block are what a batch holds, Tensor is an
array that NumPy and PyTorch share. Errors of the library are subclasses of VicinityError.

Needs the library libvicinity.so, whose version is __version__, and Python from 3.9 on.
"""

from ._library import VERSION as __version__
from .batch import Batch, Block
from .errors import (Aborted, AlreadyExists, Cancelled, DataLoss, DeadlineExceeded,
                     FailedPrecondition, Internal, InvalidArgument, NotFound, PermissionDenied,
                     ResourceExhausted, Unauthenticated, Unavailable, VicinityError)
from .graph import Graph
from .loader import Loader
from .tensors import Tensor

__all__ = [
    "Aborted", "AlreadyExists", "Batch", "Block", "Cancelled", "DataLoss", "DeadlineExceeded",
    "FailedPrecondition", "Graph", "Internal", "InvalidArgument", "Loader", "NotFound",
    "PermissionDenied", "ResourceExhausted", "Tensor", "Unauthenticated", "Unavailable",
    "VicinityError", "__version__",
]
