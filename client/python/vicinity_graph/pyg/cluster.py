"""PyG's Cluster-GCN over a graph on servers: clusters are a number for each node."""

from __future__ import annotations

import zlib
from typing import Any, Callable, Dict, Optional

import torch
from torch import Tensor
from torch_geometric.data import Data

from ._draws import draws_of
from ._node_sets import NodeSets, SetLoader, single_type

_OF_METIS = {"recursive", "save_dir", "filename", "log"}


class ClusterData:
    """torch_geometric.loader.ClusterData over a graph on servers: which clusters there are.

        cluster_data = ClusterData(data)                    # the shards that the dataset is cut into
        cluster_data = ClusterData(data, clusters=numbers)  # any other partition

    clusters: an integer for each node, entry i as that of a mask; a cluster is the nodes with one
        number, in their order. More clusters than there are servers come of a second cut of the same
        import, by `vicinity partition --shards 1500`, whose assigner is METIS:
            parts = vicinity_graph.Graph(directory="parts")
            clusters = parts.owner_of("paper", parts.nodes("paper")).torch()
    num_parts: how many clusters there are, if it is to be checked.
    PyG's recursive, save_dir, filename and log are of the METIS that it runs itself: they are
    accepted and not needed.

    cluster_data[i] is the subgraph that cluster i induces; i counts clusters by rising number.
    Memory: 24 bytes a node of the graph, about 50 while it is made.
    Errors: ValueError for a heterogeneous graph, as PyG takes none, for clusters that do not fit the
        graph, for num_parts that is another number; NotImplementedError for
        keep_inter_cluster_edges, whose edges have one end without a row.
    """

    def __init__(self, data: Any, num_parts: Optional[int] = None, *, clusters: Any = None,
                 keep_inter_cluster_edges: bool = False, sparse_format: str = "csr", **of_metis: Any):
        schema = single_type(data, type(self).__name__)
        if set(of_metis) - _OF_METIS:
            raise TypeError(f"no arguments of ClusterData: {sorted(set(of_metis) - _OF_METIS)}")
        if keep_inter_cluster_edges:
            raise NotImplementedError("keep_inter_cluster_edges leaves edges whose other end is in no "
                                      "batch: ClusterLoader has those between the clusters of a batch")
        if sparse_format != "csr":
            raise NotImplementedError(f"sparse_format is {sparse_format!r}: the edges of a batch are "
                                      "by source, as 'csr' has them")
        self.data = data
        self.sets = NodeSets(schema)
        numbers = self._shards() if clusters is None else _checked(clusters, self.sets.num_nodes)
        #: The numbers that `clusters` has, rising, and how many nodes have each: int64 [num_parts].
        self.cluster_ids, counts = numbers.unique(return_counts=True)
        self.num_parts = self.cluster_ids.numel()
        if num_parts is not None and num_parts != self.num_parts:
            raise ValueError(
                f"num_parts is {num_parts!r}, and there are {self.num_parts} "
                f"{'shards' if clusters is None else 'clusters'}: give clusters=, a number for each "
                "node; the help of ClusterData tells how to make them by METIS")
        self._order = numbers.argsort(stable=True)
        self._ends = torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    def _shards(self) -> Tensor:
        schema = self.data.schema
        nodes = schema.graph.nodes(self.sets.node_type)
        return schema.graph.owner_of(self.sets.node_type, nodes).torch().to(torch.int64)

    def __len__(self) -> int:
        return self.num_parts

    def nodes(self, cluster: int) -> Tensor:
        """The places of its nodes among graph.nodes(), rising: int64 [n]."""
        if not 0 <= cluster < self.num_parts:
            raise IndexError(f"there is no cluster {cluster}, of {self.num_parts}")
        return self._order[self._ends[cluster]:self._ends[cluster + 1]]

    def __getitem__(self, idx: int) -> Data:
        return self.sets.data(self.nodes(int(idx)))

    def checksum(self) -> int:
        """Of which node is in which cluster: the same numbers, the same sum."""
        return zlib.crc32(self._ends.numpy(), zlib.crc32(self._order.numpy()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_parts})"


def _checked(clusters: Any, num_nodes: int) -> Tensor:
    if hasattr(clusters, "torch"):  # of the library's
        clusters = clusters.torch()
    numbers = torch.as_tensor(clusters)
    if numbers.is_floating_point() or numbers.dtype == torch.bool or \
            list(numbers.shape) != [num_nodes]:
        raise ValueError(f"clusters are {numbers.dtype} {list(numbers.shape)}: give an integer for "
                         f"each node, [{num_nodes}]")
    return numbers.to("cpu", torch.int64)


class ClusterLoader(SetLoader):
    """torch_geometric.loader.ClusterLoader over a graph on servers: a batch is the subgraph that is
    induced by the nodes of batch_size clusters, cluster by cluster, with the edges between them.
    Beside PyG's attributes it has n_id and, unless e_id=False says no, e_id.

    An epoch has each cluster once, shuffled by run_seed and epoch where shuffle=True. Of several
    trainers (distributed=True, trainer= and num_trainers=, sampler=DistributedSampler(...)) each has
    its share; where it does not come out even the first clusters come once more, as with
    DistributedSampler, or with drop_last=True the last are left out.

    It takes torch.utils.data.DataLoader's arguments and run_seed, e_id and sample_threads=2, the
    threads that make batches ahead. num_workers is accepted and not needed.
    """

    def __init__(self, cluster_data: ClusterData, **kwargs: Any):
        if not isinstance(cluster_data, ClusterData):
            raise TypeError(f"cluster_data is a {type(cluster_data).__name__}: give "
                            "vicinity_graph.pyg.ClusterData(data)")
        super().__init__(cluster_data.data, cluster_data.sets, kwargs)
        self.cluster_data = cluster_data
        self.batch_size = self._arguments.batch_size
        self.drop_last = self._arguments.drop_last
        if len(cluster_data) < self._num_trainers:
            raise ValueError(f"{len(cluster_data)} clusters are fewer than {self._num_trainers} "
                             "trainers")

    @property
    def dataset(self) -> range:
        """Of the clusters, as PyG has it."""
        return range(len(self.cluster_data))

    def _share(self, order: Tensor) -> Tensor:
        """This trainer's clusters."""
        over = order.numel() % self._num_trainers
        if over > 0 and self.drop_last:
            order = order[:-over]
        elif over > 0:
            order = torch.cat([order, order[:self._num_trainers - over]])
        return order[self._trainer::self._num_trainers]

    def __len__(self) -> int:
        """Batches an epoch, the same for every trainer."""
        share = self._share(torch.arange(len(self.cluster_data))).numel()
        return share // self.batch_size if self.drop_last else -(-share // self.batch_size)

    def _steps_of(self, epoch: int) -> Callable[[int], Data]:
        order = torch.arange(len(self.cluster_data))
        if self._arguments.shuffle:
            order = torch.from_numpy(draws_of(self._run_seed, epoch, 0).permutation(order.numpy()))
        parts = self._share(order).split(self.batch_size)

        def make(step: int) -> Data:
            nodes = [self.cluster_data.nodes(cluster) for cluster in parts[step].tolist()]
            return self._sets.data(torch.cat(nodes), self._arguments.edge_ids)
        return make

    def _identity(self) -> Dict[str, Any]:
        return {"batch_size": self.batch_size, "drop_last": self.drop_last,
                "shuffle": self._arguments.shuffle, "clusters": self.cluster_data.checksum()}
