"""GraphBolt's OnDiskDataset, a folder that metadata.yaml describes."""

from __future__ import annotations

import importlib
import pathlib
from typing import Any, Collection, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from .files import Npy, joined_text
from .roles import load_torch, of_tensor, set_weight
from .writer import BFLOAT16, Edges, File, Nodes, Writer

_SETS = {"train_set": "train", "validation_set": "validation", "test_set": "test"}
_SEEDS = ("seeds", "seed_nodes")
_PAIRS = ("node_pairs", "negative_srcs", "negative_dsts")


def from_graphbolt(folder_or_metadata_yaml: Any, folder: Any, *, name: str = "",
                   task: Optional[str] = "", weight: str = "", skip: Collection[str] = (),
                   trust_pickle: bool = False,
                   copy_to_edges: Collection[str] = (), time_order: str = "") -> pathlib.Path:
    """Of the folder as it was before GraphBolt preprocessed it, or its metadata.yaml.

    Feature data becomes columns of their names; ids are the dataset's, edge ids the positions in
    the files of edges. Without types there are "node" and ("node", "to", "node"). The train,
    validation and test set of `task` (needed if there are several; None: none) become the splits;
    labels beside the seeds, if they are one integer each, become the labels (-1: none is known;
    unsigned integers become int64), else the target, "labels", NaN where none is known, and -1
    among signed integers.
    Seeds that are pairs or edges are no splits of nodes: they are refused. Feature data `weight` of
    edges is what sampling can draw by. `skip`: names of feature data to leave out. `copy_to_edges`:
    columns of nodes that edges get from their sources, and `time_order`, the times of edges in
    whose order they are stored: see write().

    Arrays of NumPy's stay where they are; what is in PyTorch's format is read whole, without
    running what it says unless `trust_pickle`, and copied.

    Errors: ValueError naming the part of metadata.yaml that does not fit; FileNotFoundError; else
            as write().
    """
    path = pathlib.Path(folder_or_metadata_yaml)
    path = path / "metadata.yaml" if path.is_dir() else path
    meta = _yaml(path)
    with Writer(folder) as writer:
        source = _Dataset(path, meta, writer, skip, trust_pickle)
        source.add_graph()
        source.add_features()
        source.add_task(task)
        set_weight(source.edges, weight)
        return writer.write(source.nodes, source.edges,
                            name or str(meta.get("dataset_name") or "graph"), copy_to_edges,
                            time_order)


def _yaml(path: pathlib.Path) -> Mapping[str, Any]:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise ValueError(f"{path} takes PyYAML to read: pip install pyyaml") from error
    with open(path, encoding="utf-8") as file:
        try:
            meta = yaml.safe_load(file)
        except yaml.YAMLError as error:
            raise ValueError(f"{path}: {error}") from error
    if not isinstance(meta, dict) or "graph" not in meta:
        hint = (": it is what GraphBolt made of a dataset; give the folder above it"
                if isinstance(meta, dict) and "graph_topology" in meta else "")
        raise ValueError(f"{path} has no graph{hint}")
    return meta


class _Dataset:
    def __init__(self, path: pathlib.Path, meta: Mapping[str, Any], writer: Writer,
                 skip: Collection[str], trust_pickle: bool):
        self.writer = writer
        self.nodes: Dict[str, Nodes] = {}
        self.edges: Dict[Tuple[str, str, str], Edges] = {}
        self._path = path
        self._meta = meta
        self._skip = set(skip)
        self._trust_pickle = trust_pickle

    def add_graph(self) -> None:
        graph = self._meta["graph"]
        for each in graph["nodes"]:
            self.nodes[_node_type(each)] = Nodes(count=int(each["num"]))
        for each in graph["edges"]:
            edge_type = self._edge_type(each)
            self.edges[edge_type] = self._ends(edge_type, each)

    def _ends(self, edge_type: Tuple[str, str, str], edges: Mapping[str, Any]) -> Edges:
        path = self._path.parent / edges["path"]
        if edges["format"] == "csv":
            name = ".".join(edge_type) + "+ends"
            return Edges(ends=joined_text(self.writer, name, [path], ",", [-1]))
        if edges["format"] == "numpy":
            ends = Npy(path)
            if len(ends.shape) != 2 or ends.shape[0] != 2:
                raise ValueError(f"{ends} is {list(ends.shape)}, and edges are [2, n]")
            return Edges(ends=ends.taken(transposed=True), count=ends.shape[1])
        raise ValueError(f"{self._path}: edges are of the format {edges['format']!r}: csv and "
                         "numpy are known")

    def add_features(self) -> None:
        features = [*(self._meta["graph"].get("feature_data") or []),
                    *(self._meta.get("feature_data") or [])]
        for each in features:
            name = each["name"]
            if name in self._skip:
                continue
            domain = each["domain"]
            if domain == "node":
                owner: Any = self._nodes(each)
                whose, count = _node_type(each), owner.count
            elif domain == "edge":
                owner = self.edges[self._edge_type(each, known=True)]
                whose, count = ".".join(self._edge_type(each)), owner.count
            else:
                raise ValueError(f"{self._path}: feature {name!r} is of the domain {domain!r}, and "
                                 f"columns are of nodes and edges: leave it out by skip=[{name!r}]")
            if name in owner.columns:
                raise ValueError(f"{self._path}: {whose} has the feature {name!r} twice")
            owner.columns[name] = self._array(f"{whose}.{name}", each, count)

    def _array(self, where: str, data: Mapping[str, Any], count: int) -> Union[File, numpy.ndarray]:
        path = self._path.parent / data["path"]
        if data["format"] == "numpy":
            array = Npy(path)
            if count >= 0:
                array.check_rows(count, f"rows of {where}")
            return array.taken()
        return self._numbers(where, data)

    def _numbers(self, where: str, data: Mapping[str, Any]) -> numpy.ndarray:
        """Mapped, if the file can be."""
        path = self._path.parent / data["path"]
        if data["format"] == "numpy":
            return Npy(path).array()
        if data["format"] == "torch":
            return of_tensor(f"{path} ({where})", load_torch(
                path, self._trust_pickle, "save the tensor alone, as .npy, and say format: numpy"))
        raise ValueError(f"{self._path}: {where} is of the format {data['format']!r}: numpy and "
                         "torch are known")

    def add_task(self, wanted: Optional[str]) -> None:
        tasks = self._meta.get("tasks") or []
        names = [str(each.get("name") or "") for each in tasks]
        if wanted:
            if wanted not in names:
                raise ValueError(f"{self._path} has no task {wanted!r}: {names}")
            tasks = [tasks[names.index(wanted)]]
        if wanted is None or not tasks:
            return
        if len(tasks) > 1:
            raise ValueError(f"{self._path} has several tasks: say task= one of {names}, or None")
        labels: Dict[str, List[Tuple[numpy.ndarray, numpy.ndarray]]] = {}
        for set_name, split in _SETS.items():
            for each in tasks[0].get(set_name) or []:
                node_type = _node_type(each)
                seeds, of_seeds = self._seeds(f"{set_name} of {node_type}", each)
                self._nodes(each).splits[split] = seeds
                if of_seeds is not None:
                    labels.setdefault(node_type, []).append((seeds, of_seeds))
        for node_type, pairs in labels.items():
            self._add_labels(node_type, pairs, int(tasks[0].get("num_classes") or 0))

    def _seeds(self, where: str, data_set: Mapping[str, Any]
               ) -> Tuple[numpy.ndarray, Optional[numpy.ndarray]]:
        seeds = labels = None
        for position, data in enumerate(data_set["data"]):
            # Older datasets name nothing: seeds, then labels.
            name = data.get("name") or ("seeds", "labels", "")[min(position, 2)]
            if name in _SEEDS:
                seeds = self._numbers(f"{where}: {name}", data)
            elif name == "labels":
                labels = self._numbers(f"{where}: {name}", data)
            elif name not in self._skip and name not in _PAIRS:
                raise ValueError(f"{self._path}: {where} has {name!r} beside seeds and labels: "
                                 f"leave it out by skip=[{name!r}]")
        if seeds is None or seeds.ndim != 1 or seeds.dtype.kind not in "iu" or ":" in str(
                data_set.get("type")):
            raise ValueError(f"{self._path}: {where}: its seeds are pairs, and splits are of "
                             "nodes: task=None leaves tasks out, and a loader takes pairs as "
                             "seeds=")
        if labels is not None and len(labels) != len(seeds):
            raise ValueError(f"{self._path}: {where} has {len(seeds)} seeds and {len(labels)} "
                             "labels")
        return seeds, labels

    def _add_labels(self, node_type: str, pairs: Sequence[Tuple[numpy.ndarray, numpy.ndarray]],
                    num_classes: int) -> None:
        nodes = self.nodes[node_type]
        first = pairs[0][1]
        types = {(array.dtype.newbyteorder("="), array.shape[1:]) for _, array in pairs}
        if len(types) > 1:
            raise ValueError(f"{self._path}: labels of {node_type} are of several types or shapes: "
                             f"{sorted(map(str, types))}")
        is_class = first.dtype.kind in "iu" and first[:1].size <= 1
        dtype = numpy.dtype(numpy.int64) if is_class and first.dtype.kind == "u" else first.dtype
        if first.dtype == numpy.uint64 and is_class and any(
                len(labels) and labels.max() > numpy.iinfo(numpy.int64).max for _, labels in pairs):
            raise ValueError(f"{self._path}: labels of {node_type} are beyond int64")
        known = numpy.zeros(nodes.count, dtype=bool)
        array = numpy.zeros((nodes.count, *first.shape[1:]), dtype=dtype.newbyteorder("="))
        for seeds, labels in pairs:
            if len(seeds) and not 0 <= seeds.min() <= seeds.max() < nodes.count:
                raise ValueError(f"{self._path}: seeds of {node_type} are {seeds.min()} to "
                                 f"{seeds.max()}, and there are {nodes.count} nodes")
            array[seeds] = labels
            known[seeds] = True
        if not known.all():
            array[~known] = self._none_known(node_type, array.dtype)
        if is_class:
            nodes.labels, nodes.num_classes = array.reshape(-1), num_classes
        else:
            nodes.columns["labels"], nodes.target = array, "labels"

    def _none_known(self, node_type: str, dtype: Any) -> Any:
        if dtype.kind == "f":
            return numpy.nan
        if dtype == BFLOAT16:
            return numpy.array([(0x7fc0,)], dtype=BFLOAT16)[0]
        if dtype.kind == "i":
            return -1
        raise ValueError(f"{self._path}: labels of {node_type} are {dtype}, and not all nodes have "
                         "some: nothing in that type says that none is known; save them as int8 or "
                         "float32")

    def _nodes(self, described: Mapping[str, Any]) -> Nodes:
        node_type = _node_type(described)
        if node_type not in self.nodes:
            raise ValueError(f"{self._path}: {node_type!r} is none of the node types "
                             f"{list(self.nodes)}")
        return self.nodes[node_type]

    def _edge_type(self, described: Mapping[str, Any], known: bool = False) -> Tuple[str, str, str]:
        parts = tuple(str(described.get("type") or "node:to:node").split(":"))
        if len(parts) != 3 or (known and parts not in self.edges):
            raise ValueError(f"{self._path}: {described['type']!r} is no edge type"
                             f"{': there are ' + str(list(self.edges)) if known else ''}")
        return parts  # type: ignore[return-value]


def _node_type(described: Mapping[str, Any]) -> str:
    return str(described.get("type") or "node")
