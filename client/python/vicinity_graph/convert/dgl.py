"""Graphs of the Deep Graph Library. Nothing of DGL is imported: a graph brings its methods
along."""

from __future__ import annotations

import pathlib
from typing import Any, Collection, List, Mapping, Optional, Tuple

from .roles import add_node_array, add_splits, of_tensor, set_weight
from .writer import Edges, Nodes, write


def from_dgl(graph: Any, folder: Any, *, name: str = "graph", label: str = "label",
             weight_attr: str = "", skip: Collection[str] = (), split: int = 0,
             split_idx: Optional[Mapping[str, Any]] = None,
             copy_to_edges: Collection[str] = (), time_order: str = "") -> pathlib.Path:
    """Of a DGLGraph of one type or several: writes it as write() does.

    What is in ndata and edata becomes columns of their names; edge ids are DGL's. Node data
    `label`, if it is one class a node, becomes the labels, else the target. train_mask, val_mask
    and test_mask are the splits; of masks [n, splits] `split` says which; or `split_idx` has the
    ids of "train", "valid" and "test", by node type if there are several. `weight_attr`: the edge
    data that sampling can draw by. `skip`: names of data to leave out. `copy_to_edges`: node data
    that edges get from their sources, and `time_order`, the times of edges in whose order they are
    stored: see write(). Types that DGL calls _N and _E are "node" and ("node", "to", "node").

    Errors: ValueError for a block, for sparse data of edges, for a weight that no type has; else as
            write().
    """
    if getattr(graph, "is_block", False):
        raise ValueError("the graph is a block of a batch, whose targets are other nodes than its "
                         "sources: convert the graph it was sampled from")
    nodes = {}
    for node_type in graph.ntypes:
        made = nodes[_node_name(node_type)] = Nodes(count=int(graph.num_nodes(node_type)))
        for key, value in _data_of(graph.nodes[node_type], skip):
            add_node_array(made, key, of_tensor(f"{node_type}.{key}", value), label, split)
    add_splits(nodes, split_idx)
    edges = {_edge_name(each): _edges(graph, each, skip) for each in graph.canonical_etypes}
    set_weight(edges, weight_attr)
    return write(folder, nodes, edges, name, copy_to_edges, time_order)


def _edges(graph: Any, edge_type: Tuple[str, str, str], skip: Collection[str]) -> Edges:
    where = " ".join(edge_type)
    # In the order of their ids, which is that of their data.
    ends = graph.edges(form="uv", order="eid", etype=edge_type)
    edges = Edges(ends=[of_tensor(f"{where}: ends", end) for end in ends])
    for key, value in _data_of(graph.edges[edge_type], skip):
        edges.columns[key] = of_tensor(f"{where}.{key}", value)
    return edges


def _data_of(view: Any, skip: Collection[str]) -> List[Tuple[str, Any]]:
    return [(key, view.data[key]) for key in view.data.keys() if key not in skip]


def _node_name(node_type: str) -> str:
    return "node" if node_type == "_N" else node_type


def _edge_name(edge_type: Tuple[str, str, str]) -> Tuple[str, str, str]:
    source, relation, target = edge_type
    return _node_name(source), "to" if relation == "_E" else relation, _node_name(target)
