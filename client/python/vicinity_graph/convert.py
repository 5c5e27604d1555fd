"""From what people have in memory to what `vicinity import` reads.

    from vicinity_graph import convert

    convert.from_pyg(dataset[0], "arrays")        # torch_geometric.data.Data or HeteroData

    $ vicinity import --description arrays/graph.textproto --output graph

Arrays are written as they are, one `.npy` each, and a description beside them. Nothing is cast, and
nothing is left out but what `skip` names: an attribute that fits no node and no edge is an error.
Needs NumPy.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, Iterable, List, Mapping, Optional, Tuple

import numpy

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_MASKS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}


@dataclass
class Nodes:
    """Nodes of one type; rows of all arrays are in the order of the ids.

    ids:     None: 0 to count - 1; else integers, or a list of str
    columns: [count, ...] arrays by name
    labels:  integers [count], a class each, -1: none; they become the column `label_name`
    target:  which of the columns is to be learnt, where that is no class
    masks:   "train", "validation", "test": bool [count]
    """

    count: int
    ids: Any = None
    columns: Dict[str, Any] = field(default_factory=dict)
    labels: Any = None
    label_name: str = "label"
    num_classes: int = 0
    target: str = ""
    masks: Dict[str, Any] = field(default_factory=dict)


@dataclass
class Edges:
    """Edges of one type: `ends` are sources and targets by the nodes' ids, integers [2, n] or, where
    either type has names, two lists; arrays of columns are [n, ...]; `weight` names the one that
    sampling can draw by."""

    ends: Any
    columns: Dict[str, Any] = field(default_factory=dict)
    weight: str = ""


def write(folder: Any, nodes: Mapping[str, Nodes], edges: Mapping[Tuple[str, str, str], Edges],
          name: str = "graph") -> pathlib.Path:
    """Writes arrays and graph.textproto into a new folder; the path of the latter.

    Errors: FileExistsError for a folder that is there; ValueError naming the type and the array
            whose length, shape or dtype does not fit. What was written until then stays.
    Memory: an array that lies in memory, or in a mapped file, is not copied.
    """
    writer = _Writer(folder)
    text = [f"name: {_quoted(name)}"]
    for node_type, each in nodes.items():
        text += writer.nodes(node_type, each)
    for edge_type, each in edges.items():
        text += writer.edges(edge_type, each)
    path = writer.folder / "graph.textproto"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path


def from_pyg(data: Any, folder: Any, *, name: str = "graph", weight_attr: str = "",
             skip: Collection[str] = (), split: int = 0,
             split_idx: Optional[Mapping[str, Any]] = None) -> pathlib.Path:
    """Of a Data or HeteroData: writes it as write() does.

    Attributes of nodes and edges become columns of their names; edge ids are the positions in
    edge_index, so that `e_id` of batches are those of PyG. `y`, if it is one class a node, becomes
    the labels, else the target. train_mask, val_mask and test_mask are the splits; of masks
    [n, splits] `split` says which; or `split_idx` has the ids of "train", "valid" and "test", of a
    HeteroData by node type, as OGB's get_idx_split() gives them. `weight_attr`: the edge attribute that sampling can draw by.
    `skip`: names of attributes to leave out.

    Errors: ValueError naming an attribute that is of no node and no edge, or is sparse; else as
            write().
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
    for name_of_split, ids in (split_idx or {}).items():
        by_type = ids if isinstance(ids, Mapping) else {_only(made): ids}
        for node_type, of_type in by_type.items():
            made[node_type].masks[_split_named(name_of_split)] = _mask(made[node_type].count, of_type)
    return write(folder, made,
                 {each: store.as_edges(weight_attr) for each, store in edges.items()}, name)


# --- PyG. ---

def _only(names: Collection[str]) -> str:
    if len(names) != 1:
        raise ValueError(f"split_idx of several node types is by type: {list(names)}")
    return next(iter(names))


def _split_named(name: str) -> str:
    names = {"train": "train", "valid": "validation", "val": "validation",
             "validation": "validation", "test": "test"}
    if name not in names:
        raise ValueError(f"split_idx names {name!r}: there are train, valid and test")
    return names[name]


def _mask(count: int, ids: Any) -> numpy.ndarray:
    mask = numpy.zeros(count, dtype=bool)
    mask[numpy.asarray(ids)] = True
    return mask


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

    def _tensor(self, key: str) -> numpy.ndarray:
        return _of_tensor(f"{self._where}.{key}", self.store[key])

    def as_nodes(self, split: int) -> Nodes:
        if self.store.num_nodes is None:
            raise ValueError(f"how many nodes {self._where} has is not known: set its num_nodes")
        nodes = Nodes(count=self.store.num_nodes)
        for key in _keys_of(self.store):
            if key in self._skip or not self.store.is_node_attr(key):
                continue
            array = self._tensor(key)
            if key in _MASKS:
                nodes.masks[_MASKS[key]] = array[:, split] if array.ndim == 2 else array
            elif key == "y" and array.dtype.kind in "iu" and array.size == len(array):
                nodes.labels, nodes.label_name = array.reshape(-1), "y"
            else:
                nodes.columns[key] = array
                nodes.target = key if key == "y" else nodes.target
        return nodes

    def as_edges(self, weight_attr: str) -> Edges:
        if "edge_index" not in self.store:
            raise ValueError(f"{self._where} has no edge_index: of an adj_t undo ToSparseTensor, "
                             "edge_index = torch.stack(adj_t.t().coo()[:2])")
        edges = Edges(ends=self._tensor("edge_index"))
        for key in _keys_of(self.store):
            if key not in self._skip and self.store.is_edge_attr(key):
                edges.columns[key] = self._tensor(key)
        edges.weight = weight_attr if weight_attr in edges.columns else ""
        return edges


def _of_tensor(where: str, value: Any) -> numpy.ndarray:
    if not hasattr(value, "detach"):
        raise ValueError(f"{where} is a {type(value).__name__}, no tensor: leave it out by skip=")
    if getattr(value, "is_sparse", False) or "sparse" in str(getattr(value, "layout", "")):
        raise ValueError(f"{where} is sparse: give it dense, by to_dense()")
    value = value.detach().cpu()
    if str(value.dtype) == "torch.bfloat16":
        return value.contiguous().view(sys.modules["torch"].int16).numpy().view(_BFLOAT16)
    return value.numpy()


# NumPy has no bfloat16: its bits are marked by this.
_BFLOAT16 = numpy.dtype([("bfloat16", "<u2")])


# --- Files. ---

def _quoted(text: str) -> str:
    escaped = "".join(f"\\{ord(letter):03o}" if letter in "\"\\\n" else letter for letter in text)
    return f'"{escaped}"'


class _Writer:
    def __init__(self, folder: Any):
        self.folder = pathlib.Path(os.fspath(folder))
        self.folder.mkdir(parents=True)

    def nodes(self, node_type: str, nodes: Nodes) -> List[str]:
        _check_name(node_type, "node type")
        lines = ["nodes {", f"  name: {_quoted(node_type)}"]
        lines.append(f"  count: {nodes.count}" if nodes.ids is None
                     else f"  ids {{ {self._ids(node_type, nodes)}")
        for name, values in nodes.columns.items():
            lines.append("  columns { " + self._column(node_type, name, values, nodes.count) + " }")
        if nodes.labels is not None:
            lines.append("  label { " + self._column(node_type, nodes.label_name, nodes.labels,
                                                     nodes.count) + " }")
            if nodes.num_classes:
                lines.append(f"  num_classes: {nodes.num_classes}")
        if nodes.target:
            lines.append(f"  target_column: {_quoted(nodes.target)}")
        for split, mask in nodes.masks.items():
            mask = numpy.asarray(mask)
            if mask.dtype != bool:
                raise ValueError(f"{node_type}: the mask of {split} is {mask.dtype}, no bool")
            file = self._array(f"{node_type}.{split}_mask", mask, nodes.count)
            lines.append(f"  {split} {{ mask {{ {file} }} }}")
        return lines + ["}"]

    def edges(self, edge_type: Tuple[str, str, str], edges: Edges) -> List[str]:
        for part in edge_type:
            _check_name(part, "part of an edge type")
        where = ".".join(edge_type)
        if len(edges.ends) != 2 or len(edges.ends[0]) != len(edges.ends[1]):
            raise ValueError(f"{where}: ends are no two lists of the same length")
        source, relation, target = map(_quoted, edge_type)
        lines = ["edges {", f"  source: {source} relation: {relation} target: {target}",
                 f"  ends {{ {self._ends(where, edges.ends)}"]
        for name, values in edges.columns.items():
            lines.append("  columns { " + self._column(where, name, values, len(edges.ends[0])) + " }")
        if edges.weight:
            lines.append(f"  weight_column: {_quoted(edges.weight)}")
        return lines + ["}"]

    def _ends(self, where: str, ends: Any) -> str:
        if any(len(end) and isinstance(end[0], str) for end in ends):
            path = f"{where}.ends.csv"
            self._text(path, (",".join(map(_field, pair)) for pair in zip(*ends)))
            return f"path: {_quoted(path)} }}"
        array = numpy.asarray(ends)
        if array.ndim != 2 or array.dtype.kind not in "iu":
            raise ValueError(f"{where}: ends are {array.dtype} {list(array.shape)}: integers [2, n]")
        return f"{self._array(where + '.ends', array, 2)} }} transposed: true"

    def _text(self, path: str, rows: Iterable[str]) -> None:
        with open(self.folder / path, "w", encoding="utf-8", newline="") as file:
            file.writelines(row + "\n" for row in rows)

    def _ids(self, node_type: str, nodes: Nodes) -> str:
        if len(nodes.ids) != nodes.count:
            raise ValueError(f"{node_type}: {len(nodes.ids)} ids for {nodes.count} nodes")
        if nodes.count and isinstance(nodes.ids[0], str):
            path = f"{node_type}.ids.csv"
            self._text(path, map(_field, nodes.ids))
            return f"path: {_quoted(path)} }} id_kind: STRING"
        return self._array(f"{node_type}.ids", nodes.ids, nodes.count) + " }"

    def _column(self, where: str, name: str, values: Any, count: int) -> str:
        _check_name(name, "column")
        return f"name: {_quoted(name)} array {{ {self._array(f'{where}.{name}', values, count)} }}"

    def _array(self, name: str, values: Any, count: int) -> str:
        array = numpy.asarray(values)
        if array.ndim == 0 or len(array) != count:
            raise ValueError(f"{name} is {list(array.shape)}: its first length should be {count}")
        bits = ""
        if array.dtype == _BFLOAT16:
            array, bits = array.view("<u2"), " read_as: BFLOAT16"
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} is {array.dtype}: numbers and truth values can be columns")
        numpy.save(self.folder / f"{name}.npy", numpy.ascontiguousarray(array))
        return f"path: {_quoted(name + '.npy')}{bits}"


def _field(value: Any) -> str:
    """Of CSV, where a row is a line."""
    if any(letter in str(value) for letter in "\n\r\0"):
        raise ValueError(f"the id {value!r} has an end of line or a NUL, which no id of a text has")
    return '"' + str(value).replace('"', '""') + '"'


def _check_name(name: str, what: str) -> None:
    if not _NAME.match(name):
        raise ValueError(f"{name!r} is no name of a {what}: 1 to 64 letters, digits, _ and -")
