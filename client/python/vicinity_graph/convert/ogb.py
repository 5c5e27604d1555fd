"""Folders of the Open Graph Benchmark: node property datasets, and MAG240M of its large-scale
challenge."""

from __future__ import annotations

import pathlib
import re
from typing import Any, Collection, Dict, List, Mapping, Optional, Tuple

import numpy

from .files import Npy, csv_rows, fields_per_row, members_of
from .roles import add_node_file, add_splits, load_torch, refuse_what_is_left
from .writer import Edges, File, Nodes, write

_LABEL = "y"
# What OGB's own loader for PyG calls them; others keep their names.
_NAMES = {"node-feat": "x", "node_feat": "x", "edge-feat": "edge_attr", "edge_feat": "edge_attr",
          "node_label": _LABEL, "species": "node_species"}
_INSTEAD = "give the splits: split_idx=dataset.get_idx_split()"


def from_ogb(raw_folder: Any, folder: Any, *, name: str = "graph", split: Optional[str] = "",
             split_idx: Optional[Mapping[str, Any]] = None, num_classes: int = 0,
             skip: Collection[str] = (), trust_pickle: bool = False,
             copy_to_edges: Collection[str] = (), time_order: str = "") -> pathlib.Path:
    """Of a dataset's folder, as OGB downloads it (raw/, split/, mapping/), or of its raw/: text or
    binary, of one type or several; or of mag240m_kddcup2021 (processed/, meta.pt, split_dict.pt).

    The files stay where they are, of any size: the description has their paths. Columns are named
    as OGB's loader for PyG does: x (node-feat), edge_attr (edge-feat), node_year; labels are `y`,
    the target where a node has several. Of one node and one edge type these are "node" and ("node",
    "to", "node"). Ids are OGB's; mapping/ is not read. Datasets whose edges OGB doubles when it
    loads them (ogbn-products, ogbn-proteins) have each once: `vicinity import --add-reverse`.

    split:         which folder of split/, if there are several; None: no splits
    split_idx:     instead, what get_idx_split() gives
    num_classes:   0: the largest class + 1
    skip:          files to leave out, by their paths below raw/ (processed/)
    trust_pickle:  splits (and MAG240M's sizes) that lie in a .pt file are read as torch.load does
                   with weights_only, which runs nothing that the file says. If it holds more than
                   that takes (with torch before 2.5 NumPy's arrays), True has it read all the same.
    copy_to_edges: columns of nodes that edges get from their sources, as ["node_year"]: see write()
    time_order:    the times of edges in whose order they are stored: see write()

    Errors: FileNotFoundError naming a file that is missing; ValueError naming a file that is no
            part of such a dataset, or does not fit; else as write().
    """
    given = pathlib.Path(raw_folder)
    root = given.parent if given.name in ("raw", "processed") else given
    if not (root / "raw").is_dir() and (root / "meta.pt").is_file():
        source: _Source = _Mag240m(root / "processed", skip, load_torch(root / "meta.pt",
                                                                        trust_pickle, "repair it"))
    else:
        source = _raw_source(root / "raw" if (root / "raw").is_dir() else given, skip)
    source.refuse_what_is_left()
    if split_idx is None and split is not None:
        split_idx = source.splits(root, split, trust_pickle)
    add_splits(source.nodes, split_idx)
    for nodes in source.nodes.values():
        nodes.num_classes = (num_classes or source.num_classes) if nodes.labels is not None else 0
    return write(folder, source.nodes, source.edges, name, copy_to_edges, time_order)


class _Source:
    """Nodes and edges of a folder. What is a part of the dataset is taken, by its path; what is
    left would be lost."""

    num_classes = 0

    def __init__(self, folder: pathlib.Path, skip: Collection[str]):
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: no such folder")
        self.folder = folder
        self._skip = set(skip)
        self.nodes: Dict[str, Nodes] = {}
        self.edges: Dict[Tuple[str, str, str], Edges] = {}
        self._files = {path.relative_to(folder).as_posix() for path in folder.rglob("*")
                       if path.is_file() and not path.name.startswith(".")} - self._skip

    def refuse_what_is_left(self) -> None:
        refuse_what_is_left(self._files, (), f"in {self.folder} are no part of a node property "
                                             "dataset of OGB")

    def take(self, path: str) -> pathlib.Path:
        """FileNotFoundError if it is not there."""
        taken = self.find(path)
        if taken is None:
            raise FileNotFoundError(f"{self.folder / path}: there is no such file")
        return taken

    def find(self, path: str) -> Optional[pathlib.Path]:
        """As it is, or compressed; None: it is not there, or to be left out."""
        for each in (path + ".gz", path):
            if each in self._files:
                self._files.remove(each)
                return self.folder / each
        return None

    def below(self, folder: str, ending: str) -> List[str]:
        """Names of files in a subfolder ("": the folder), without their ending and .gz."""
        prefix = folder + "/" if folder else ""
        names = [path[len(prefix):] for path in self._files if path.startswith(prefix)]
        names = [each[:-3] if each.endswith(".gz") else each for each in names]
        return sorted(each[:-len(ending)] for each in names
                      if "/" not in each and each.endswith(ending))

    def splits(self, root: pathlib.Path, split: str, trust_pickle: bool) -> Mapping[str, Any]:
        """Ids by split and type; nothing if there are none."""
        kinds = sorted(each.name for each in (root / "split").glob("*") if each.is_dir())
        if not split and len(kinds) > 1:
            raise ValueError(f"{root / 'split'} has several splits: say split= one of {kinds}")
        if not split and not kinds:
            return {}
        folder = root / "split" / (split or kinds[0])
        if (folder / "split_dict.pt").is_file():
            return load_torch(folder / "split_dict.pt", trust_pickle, _INSTEAD)
        return {each: self._split_of_text(folder, each) for each in ("train", "valid", "test")}

    def _split_of_text(self, folder: pathlib.Path, split: str) -> Any:
        for path in folder.glob(f"{split}.csv*"):
            return File(path)
        by_type = {path.parent.name: File(path) for path in folder.glob(f"*/{split}.csv*")}
        if not by_type:
            raise FileNotFoundError(f"{folder}: has no {split}.csv.gz and no split_dict.pt, as "
                                    "node property datasets have: split=None leaves it out")
        return by_type


def _raw_source(folder: pathlib.Path, skip: Collection[str]) -> _Source:
    for kind, mark in ((_Text, "num-node-list.csv*"), (_TextOfTypes, "num-node-dict.csv*"),
                       (_Binary, "data.npz"), (_BinaryOfTypes, "num_nodes_dict.npz")):
        if list(folder.glob(mark)):
            return kind(folder, skip)
    raise FileNotFoundError(f"{folder}: there is none of num-node-list.csv.gz, "
                            "num-node-dict.csv.gz, data.npz and num_nodes_dict.npz, one of which "
                            "every node property dataset of OGB has (MAG240M: meta.pt)")


def _one(where: Any, counts: Any) -> int:
    if len(counts) != 1:
        raise ValueError(f"{where} counts {len(counts)} graphs: one can be converted")
    return int(counts[0])


class _TextSource(_Source):
    def add_columns(self, nodes: Optional[Nodes], edges: Optional[Edges], subfolder: str) -> None:
        """What begins with node or edge."""
        prefix = subfolder + "/" if subfolder else ""
        for each in self.below(subfolder, ".csv"):
            of_nodes = each.startswith(("node-feat", "node_")) or each == "species"
            of_edges = each.startswith(("edge-feat", "edge_"))
            owner = nodes if of_nodes else edges if of_edges else None
            if owner is not None:
                owner.columns[_NAMES.get(each, each)] = File(self.take(f"{prefix}{each}.csv"))

    def add_labels(self, nodes: Nodes, path: str) -> None:
        found = self.find(path)
        if found is not None:
            add_node_file(nodes, _LABEL, File(found), fields_per_row(found) == 1, _LABEL)


class _Text(_TextSource):
    """raw/ of text, of one type."""

    def __init__(self, folder: pathlib.Path, skip: Collection[str]):
        super().__init__(folder, skip)
        counts = self.take("num-node-list.csv")
        nodes = Nodes(count=_one(counts, [row[0] for row in csv_rows(counts)]))
        edges = Edges(ends=File(self.take("edge.csv")))
        counts = self.take("num-edge-list.csv")
        _one(counts, [row[0] for row in csv_rows(counts)])
        self.add_labels(nodes, "node-label.csv")
        self.add_columns(nodes, edges, "")
        self.nodes = {"node": nodes}
        self.edges = {("node", "to", "node"): edges}


class _TextOfTypes(_TextSource):
    """raw/ of text, of several types, as ogbn-mag has it."""

    def __init__(self, folder: pathlib.Path, skip: Collection[str]):
        super().__init__(folder, skip)
        counts = self.take("num-node-dict.csv")
        types, *rows = csv_rows(counts)
        _one(counts, [row[0] for row in rows])
        self.nodes = {node_type: Nodes(count=int(count)) for node_type, count in zip(types, rows[0])}
        self.find("nodetype-has-label.csv")  # says which of the folders there are
        for node_type, nodes in self.nodes.items():
            self.add_labels(nodes, f"node-label/{node_type}/node-label.csv")
            self.add_columns(nodes, None, f"node-feat/{node_type}")
        for source, relation, target in csv_rows(self.take("triplet-type-list.csv")):
            subfolder = f"relations/{source}___{relation}___{target}"
            edges = Edges(ends=File(self.take(f"{subfolder}/edge.csv")))
            self.find(f"{subfolder}/num-edge-list.csv")
            self.add_columns(None, edges, subfolder)
            self.edges[source, relation, target] = edges


class _NumberSource(_Source):
    """Arrays of NumPy's: what their headers say is checked here, the rest by the import."""

    def add_nodes_array(self, nodes: Nodes, key: str, array: Npy) -> None:
        array.check_rows(nodes.count, "nodes")
        taken = array.taken()
        name = _NAMES.get(key, key)
        add_node_file(nodes, name, taken, array.is_class(), _LABEL)

    def add_ends(self, edge_type: Tuple[str, str, str], array: Npy) -> None:
        if len(array.shape) != 2 or array.shape[0] != 2:
            raise ValueError(f"{array} is {list(array.shape)}, and ends are [2, n]")
        self.edges[edge_type] = Edges(ends=array.taken(transposed=True), count=array.shape[1])

    def add_edges_array(self, edges: Edges, key: str, array: Npy) -> None:
        array.check_rows(edges.count, "edges")
        edges.columns[_NAMES.get(key, key)] = array.taken()

    def refuse_members(self, left: Collection[str], path: pathlib.Path) -> None:
        refuse_what_is_left(left, self._skip, f"in {path} are neither of nodes nor of edges")


class _Binary(_NumberSource):
    """raw/data.npz and raw/node-label.npz, as ogbn-papers100M has them."""

    def __init__(self, folder: pathlib.Path, skip: Collection[str]):
        super().__init__(folder, skip)
        path = self.take("data.npz")
        keys = [each for each in members_of(path) if each not in self._skip]
        counts = Npy(path, "num_nodes_list")
        _one(counts, Npy(path, "num_edges_list").array())
        nodes = self.nodes["node"] = Nodes(count=_one(counts, counts.array()))
        edge_type = ("node", "to", "node")
        self.add_ends(edge_type, Npy(path, "edge_index"))
        left = []
        for key in keys:
            if key.startswith("node_"):
                self.add_nodes_array(nodes, key, Npy(path, key))
            elif key.startswith("edge_") and key != "edge_index":
                self.add_edges_array(self.edges[edge_type], key, Npy(path, key))
            elif key not in ("edge_index", "num_nodes_list", "num_edges_list"):
                left.append(key)
        self.refuse_members(left, path)
        labels = self.find("node-label.npz")
        if labels is not None:
            self.add_nodes_array(nodes, "node_label", Npy(labels, "node_label"))


class _BinaryOfTypes(_NumberSource):
    """raw/ of archives with an array for each type: num_nodes_dict.npz, edge_index_dict.npz,
    node-label.npz, and any that begin with node_ and edge_."""

    def __init__(self, folder: pathlib.Path, skip: Collection[str]):
        super().__init__(folder, skip)
        for node_type, counts in self._members("num_nodes_dict"):
            self.nodes[node_type] = Nodes(count=_one(counts, counts.array()))
        for name, ends in self._members("edge_index_dict"):
            self.add_ends(_triplet(ends, name), ends)
        self.find("num_edges_dict.npz")
        for archive in self.below("", ".npz"):
            if archive != "node-label" and not archive.startswith(("node_", "edge_")):
                continue
            key = "node_label" if archive == "node-label" else re.sub("_dict$", "", archive)
            for name, array in self._members(archive):
                if archive.startswith("edge_"):
                    edges = self._known(array, self.edges.get(_triplet(array, name)))
                    self.add_edges_array(edges, key, array)
                else:
                    self.add_nodes_array(self._known(array, self.nodes.get(name)), key, array)

    def _members(self, archive: str) -> List[Tuple[str, Npy]]:
        path = self.take(f"{archive}.npz")
        return [(name, Npy(path, name)) for name in members_of(path)]

    def _known(self, array: Npy, owner: Any) -> Any:
        if owner is None:
            raise ValueError(f"{array} is of no type that is counted")
        return owner


class _Mag240m(_NumberSource):
    """processed/ of MAG240M: .npy files, of up to 187 GB, by node type and by relation."""

    def __init__(self, folder: pathlib.Path, skip: Collection[str], meta: Mapping[str, int]):
        super().__init__(folder, skip)
        counts = dict(meta)
        self.num_classes = int(counts.pop("num_classes", 0))
        self.nodes = {each: Nodes(count=int(count)) for each, count in counts.items()}
        for subfolder in sorted(each.name for each in folder.glob("*") if each.is_dir()):
            if subfolder in self.nodes:
                for key in self.below(subfolder, ".npy"):
                    self.add_nodes_array(self.nodes[subfolder], key, self._array(subfolder, key))
            elif subfolder.count("___") == 2:
                ends = self._array(subfolder, "edge_index")
                edge_type = _triplet(ends, subfolder)
                self.add_ends(edge_type, ends)
                for key in self.below(subfolder, ".npy"):
                    self.add_edges_array(self.edges[edge_type], key, self._array(subfolder, key))

    def _array(self, subfolder: str, key: str) -> Npy:
        return Npy(self.take(f"{subfolder}/{key}.npy"))

    def splits(self, root: pathlib.Path, split: str, trust_pickle: bool) -> Mapping[str, Any]:
        if not (root / "split_dict.pt").is_file():
            return {}
        found = load_torch(root / "split_dict.pt", trust_pickle, _INSTEAD)
        return {each: {"paper": numpy.asarray(ids)} for each, ids in found.items()}


def _triplet(where: Any, name: str) -> Tuple[str, str, str]:
    parts = name.split("___")
    if len(parts) != 3:
        raise ValueError(f"{where} is no name of an edge type: source___relation___target")
    return parts[0], parts[1], parts[2]
