"""Vicinity: minibatches for graph neural networks, sampled from a sharded graph.

    import torch, vicinity_graph

    graph = vicinity_graph.Graph(cluster_file="cluster.textproto")
    for batch in graph.loader([15, 10, 5], columns=[("node", "features")]):
        rows = torch.from_dlpack(batch.column("features"))   # no copy

Needs the library libvicinity.so and nothing but Python 3.9; docs/python.md.
"""

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
    "VicinityError",
]
