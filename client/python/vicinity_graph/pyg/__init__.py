"""PyTorch Geometric over Vicinity: the loaders that scripts know, over a graph on many machines.

    from vicinity_graph.pyg import NeighborLoader, connect     # was: torch_geometric.loader

    data = connect("cluster.textproto")                        # was: dataset[0]
    loader = NeighborLoader(data, num_neighbors=[15, 10], input_nodes=data.train_mask,
                            batch_size=1024, shuffle=True)
    for batch in loader:                                       # torch_geometric.data.Data
        out = model(batch.x, batch.edge_index)[:batch.batch_size]

connect() gives a RemoteGraph, which PyG takes wherever it takes a (FeatureStore, GraphStore).
NeighborLoader, LinkNeighborLoader, ShaDowKHopSampler, ClusterLoader and the GraphSAINT samplers have
the signatures, attributes and errors of those of torch_geometric.loader; what they cannot do they
refuse by name. NeighborSampler is for torch_geometric.loader.NodeLoader and LinkLoader.

Ids are those of the import, as they are in `data.edge_index` there: of types whose ids are strings,
which no tensor holds, they are global ids, which RemoteGraph.names() names.

Needs PyTorch from 1.13 and PyTorch Geometric from 2.5 on.
"""

from .cluster import ClusterData, ClusterLoader
from .graph_saint import GraphSAINTEdgeSampler, GraphSAINTNodeSampler, \
    GraphSAINTRandomWalkSampler, GraphSAINTSampler
from .loaders import LinkNeighborLoader, NeighborLoader
from .remote_graph import RemoteGraph, connect
from .sampler import NeighborSampler
from .shadow import ShaDowKHopSampler

__all__ = ["ClusterData", "ClusterLoader", "GraphSAINTEdgeSampler", "GraphSAINTNodeSampler",
           "GraphSAINTRandomWalkSampler", "GraphSAINTSampler", "LinkNeighborLoader",
           "NeighborLoader", "NeighborSampler", "RemoteGraph", "ShaDowKHopSampler", "connect"]
