"""PyTorch Geometric's Data and HeteroData."""

from __future__ import annotations

import pathlib
from typing import Any, Collection, List, Mapping, Optional

from .roles import add_node_array, add_splits, of_tensor, set_weight
from .writer import Edges, Nodes, write


def from_pyg(data: Any, folder: Any, *, name: str = "graph", weight_attr: str = "",
             skip: Collection[str] = (), split: int = 0,
             split_idx: Optional[Mapping[str, Any]] = None,
             copy_to_edges: Collection[str] = (), time_order: str = "") -> pathlib.Path:
    """Of a Data or HeteroData: writes it as write() does.

    Attributes of nodes and edges become columns of their names; edge ids are the positions in
    edge_index, so that `e_id` of batches are those of PyG. `y`, if it is one class a node, becomes
    the labels, else the target. train_mask, val_mask and test_mask are the splits; of masks
    [n, splits] `split` says which; or `split_idx` has the ids of "train", "valid" and "test", of a
    HeteroData by node type, as OGB's get_idx_split() gives them. `weight_attr`: the edge attribute
    that sampling can draw by. `skip`: names of attributes to leave out. `copy_to_edges`: those of
    nodes that edges get from their sources, as ["time"], which a time_attr of nodes takes, and
    `time_order`, the times of edges in whose order they are stored: see write().

    Sparse attributes of nodes, as Planetoid's bags of words are in a torch.sparse layout, become
    ragged columns.

    Errors: ValueError naming an attribute that is of no node and no edge, a sparse one of edges,
            and a weight that no edges have; else as write().
    """
    if hasattr(data, "edge_types"):
        nodes = {each: _Store(each, data[each], skip) for each in data.node_types}
        edges = {each: _Store(" ".join(each), data[each], skip) for each in data.edge_types}
        left = _keys_of(data._global_store)  # pylint: disable=protected-access
    else:
        nodes = {"node": _Store("node", data, skip)}
        edges = {("node", "to", "node"): _Store("node to node", data, skip)}
        left = []
    for store in nodes.values():
        left += store.others(nodes=True, edges=store.store is data)
    for store in edges.values():
        left += store.others(nodes=store.store is data, edges=True)
    left = sorted(set(left) - set(skip))
    if left:
        raise ValueError(f"attributes {left} have no row for every node and none for every edge: "
                         f"leave them out by skip={left}")
    made = {each: store.as_nodes(split) for each, store in nodes.items()}
    add_splits(made, split_idx)
    ends = {each: store.as_edges() for each, store in edges.items()}
    set_weight(ends, weight_attr)
    return write(folder, made, ends, name, copy_to_edges, time_order)


def _keys_of(store: Any) -> List[str]:
    return list(store.keys() if callable(store.keys) else store.keys)


class _Store:
    """One of PyG's storages, or a Data, which is nodes and edges in one."""

    def __init__(self, where: str, store: Any, skip: Collection[str]):
        self.store = store
        self._where = where
        self._skip = {*skip, "num_nodes", "edge_index"}

    def others(self, nodes: bool, edges: bool) -> List[str]:
        """What is neither an attribute of nodes nor of edges, as far as there are such."""
        return [key for key in _keys_of(self.store) if key not in self._skip and
                not (nodes and self.store.is_node_attr(key)) and
                not (edges and self.store.is_edge_attr(key))]

    def _tensor(self, key: str) -> Any:
        return of_tensor(f"{self._where}.{key}", self.store[key])

    def as_nodes(self, split: int) -> Nodes:
        if self.store.num_nodes is None:
            raise ValueError(f"how many nodes {self._where} has is not known: set its num_nodes")
        nodes = Nodes(count=self.store.num_nodes)
        for key in _keys_of(self.store):
            if key not in self._skip and self.store.is_node_attr(key):
                add_node_array(nodes, key, self._tensor(key), label="y", split=split)
        return nodes

    def as_edges(self) -> Edges:
        if "edge_index" not in self.store:
            raise ValueError(f"{self._where} has no edge_index: of an adj_t undo ToSparseTensor, "
                             "edge_index = torch.stack(adj_t.t().coo()[:2])")
        edges = Edges(ends=self._tensor("edge_index"))
        for key in _keys_of(self.store):
            if key not in self._skip and self.store.is_edge_attr(key):
                edges.columns[key] = self._tensor(key)
        return edges
