"""What all of `convert` ends in: nodes and edges as a folder of arrays and a description."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, Iterable, List, Mapping, Sequence, Tuple

import numpy

from .ragged_rows import RaggedRows, as_ragged, is_sparse

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_DTYPES = "bool int8 uint8 int16 int32 int64 float16 float32 float64".split()
_CHUNK_BYTES = 1 << 22

# NumPy has no bfloat16: its bits are marked by this.
BFLOAT16 = numpy.dtype([("bfloat16", "<u2")])


@dataclass(frozen=True)
class File:
    """An array in a file that the tool reads where it is, as `proto/import.proto` has it: .npy,
    .npz (`member`), .csv, .tsv, .txt, text also with .gz (`columns`: fields from 0, all if empty;
    `header`). `transposed`, of ends in numbers: [2, n]."""

    path: Any
    member: str = ""
    columns: Sequence[int] = ()
    header: bool = False
    read_as: str = ""
    transposed: bool = False


@dataclass
class Nodes:
    """Nodes of one type; rows of all arrays are in the order of the ids. Each array may be a File.

    ids:     None: 0 to count - 1; else integers, or a list of str
    names:   of ids in a File: they are strings
    columns: [count, ...] arrays by name; or RaggedRows, and sparse matrices of SciPy's or PyTorch's
    labels:  integers [count], a class each, -1: none; they become the column `label_name`
    target:  which of the columns is to be learnt, where that is no class
    masks:   "train", "validation", "test": bool [count], or integers 0 and 1
    splits:  or the ids of those that belong to it
    notes:   of columns: what the description says of them in a comment
    """

    count: int
    ids: Any = None
    names: bool = False
    columns: Dict[str, Any] = field(default_factory=dict)
    labels: Any = None
    label_name: str = "label"
    num_classes: int = 0
    target: str = ""
    masks: Dict[str, Any] = field(default_factory=dict)
    splits: Dict[str, Any] = field(default_factory=dict)
    notes: Dict[str, str] = field(default_factory=dict)

    def all_columns(self) -> List[str]:
        """Their names, those of labels and splits as well."""
        names = [*self.columns] + ([self.label_name] if self.labels is not None else [])
        return names + (["split"] if self.masks or self.splits else [])


@dataclass
class Edges:
    """Edges of one type: `ends` are sources and targets by the nodes' ids, integers [2, n] or,
    where either type has names, two lists, or a File; arrays of columns are [n, ...], or Files;
    `weight` names the one that sampling can draw by. `count`, of ends in a File: their number, if
    known."""

    ends: Any
    columns: Dict[str, Any] = field(default_factory=dict)
    weight: str = ""
    count: int = -1
    notes: Dict[str, str] = field(default_factory=dict)


def write(folder: Any, nodes: Mapping[str, Nodes], edges: Mapping[Tuple[str, str, str], Edges],
          name: str = "graph", copy_to_edges: Collection[str] = (),
          time_order: str = "") -> pathlib.Path:
    """Writes arrays and graph.textproto into a new folder; the path of the latter.

    `copy_to_edges`: columns of nodes that the import copies to the edges that come from these nodes,
    each edge getting its source's row, under the same name. That is what it takes to draw
    neighbours by their own times (PyG's time_attr of nodes) or by conditions on their columns
    (where=). It costs a row an edge, so nothing is copied that is not named.

    `time_order`: the column of edges, int64 [n], their own or copied to them, in whose order the
    import stores the edges of a node, of all types that have it: draws by it as time_column then do
    not go through all edges of a node, which pays where nodes have thousands.

    Errors: FileExistsError for a folder that is there; ValueError naming the type and the array
            whose length, shape or dtype does not fit, columns to copy that no nodes have, or that
            edges have themselves, and a time_order that no edges have. Then there is no folder.
    Memory: an array that lies in memory, or in a mapped file, is not copied but in pieces of 4 MiB.
    """
    with Writer(folder) as writer:
        return writer.write(nodes, edges, name, copy_to_edges, time_order)


class Writer:
    """Of one new folder, which an error takes away again. Files of columns are TYPE.COLUMN, others
    TYPE+WHAT, as no column can be named."""

    def __init__(self, folder: Any):
        self.folder = pathlib.Path(os.path.abspath(os.fspath(folder)))
        self.folder.mkdir(parents=True)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, error: Any, *_: object) -> None:
        if error is not None:
            shutil.rmtree(self.folder)

    def write(self, nodes: Mapping[str, Nodes], edges: Mapping[Tuple[str, str, str], Edges],
              name: str = "graph", copy_to_edges: Collection[str] = (),
              time_order: str = "") -> pathlib.Path:
        """The description, of arrays that are written now and Files that are there."""
        _check_copies(nodes, copy_to_edges)
        copies = {edge_type: [each for each in nodes[edge_type[0]].all_columns()
                              if each in copy_to_edges] if edge_type[0] in nodes else []
                  for edge_type in edges}
        _check_time_order([each for edge_type, of_type in edges.items()
                           for each in (*of_type.columns, *copies[edge_type])], time_order)
        text = [f"name: {_quoted(name)}"]
        for node_type, each in nodes.items():
            text += self._nodes(node_type, each)
        for edge_type, of_type in edges.items():
            text += self._edges(edge_type, of_type, copies[edge_type], time_order)
        path = self.folder / "graph.textproto"
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
        return path

    def rows(self, name: str, dtype: Any, row_shape: Sequence[int] = ()) -> RowFile:
        """A new array of the folder that grows by rows."""
        return RowFile(self.folder / f"{name}.npy", dtype, row_shape)

    def lines(self, name: str) -> LineFile:
        """A new file of strings of the folder that grows by rows."""
        return LineFile(self.folder / f"{name}.csv")

    def _nodes(self, node_type: str, nodes: Nodes) -> List[str]:
        check_name(node_type, "node type")
        _check_once(node_type, nodes.all_columns())
        lines = ["nodes {", f"  name: {_quoted(node_type)}"]
        lines.append(f"  count: {nodes.count}" if nodes.ids is None
                     else f"  ids {{ {self._ids(node_type, nodes)}")
        ragged = {name: as_ragged(values) for name, values in nodes.columns.items()}
        dense = {name: values for name, values in nodes.columns.items() if ragged[name] is None}
        lines += self._columns(node_type, dense, nodes.count, nodes.notes)
        lines += ["  ragged_columns { " + self._ragged(node_type, name, rows, nodes.count) + " }"
                  for name, rows in ragged.items() if rows is not None]
        if nodes.target in nodes.columns and nodes.target not in dense:
            raise ValueError(f"{node_type}: the target {nodes.target!r} is ragged: give it dense")
        if nodes.labels is not None:
            lines.append("  label { " + self._column(node_type, nodes.label_name, nodes.labels,
                                                     nodes.count, label=True) + " }")
            if nodes.num_classes:
                lines.append(f"  num_classes: {nodes.num_classes}")
        if nodes.target:
            lines.append(f"  target_column: {_quoted(nodes.target)}")
        _check_once(f"{node_type}: splits", [*nodes.masks, *nodes.splits])
        for split, mask in nodes.masks.items():
            if not isinstance(mask, File):
                mask = _truths(f"{node_type}: the mask of {split}", mask)
            lines.append(f"  {split} {{ mask {{ "
                         f"{self._array(f'{node_type}+{split}_mask', mask, nodes.count)} }} }}")
        for split, ids in nodes.splits.items():
            lines.append(f"  {split} {{ ids {{ {self._listed(f'{node_type}+{split}', ids)} }} }}")
        return lines + ["}"]

    def _edges(self, edge_type: Tuple[str, str, str], edges: Edges, copies: List[str],
               time_order: str) -> List[str]:
        for part in edge_type:
            check_name(part, "part of an edge type")
        where = ".".join(edge_type)
        _check_once(where, [*edges.columns, *copies])
        ends, count = self._ends(where, edges)
        source, relation, target = map(_quoted, edge_type)
        lines = ["edges {", f"  source: {source} relation: {relation} target: {target}",
                 f"  ends {{ {ends}"]
        lines += self._columns(where, edges.columns, count, edges.notes)
        lines += [f"  columns {{ of_source: {_quoted(each)} }}" for each in copies]
        if edges.weight:
            lines.append(f"  weight_column: {_quoted(edges.weight)}")
        if time_order in (*edges.columns, *copies):
            lines.append(f"  time_order: {_quoted(time_order)}")
        return lines + ["}"]

    def _columns(self, where: str, columns: Mapping[str, Any], count: int,
                 notes: Mapping[str, str]) -> List[str]:
        lines = []
        for name, values in columns.items():
            if isinstance(values, RaggedRows) or is_sparse(values):
                raise ValueError(f"{where}.{name} is ragged, and columns of nodes alone can be: give "
                                 "it dense, or leave it out")
            if name in notes:
                lines.append(f"  # {name}: {notes[name]}")
            lines.append("  columns { " + self._column(where, name, values, count) + " }")
        return lines

    def _ragged(self, where: str, name: str, rows: RaggedRows, count: int) -> str:
        check_name(name, "column")
        parts = {"offsets": (rows.offsets, count + 1), "values": (rows.values, -1)}
        if rows.indices is not None:
            parts["indices"] = rows.indices, -1
        if not isinstance(rows.values, File):
            check_dtype(f"{where}.{name}", numpy.asarray(rows.values).dtype)
        text = "".join(f" {part} {{ {self._array(f'{where}.{name}+{part}', *given)} }}"
                       for part, given in parts.items())
        return f"name: {_quoted(name)}{text}" + (
            f" num_columns: {rows.num_columns}" if rows.indices is not None else "")

    def _ends(self, where: str, edges: Edges) -> Tuple[str, int]:
        """Of the description, and how many edges there are; -1: nobody knows yet."""
        ends = edges.ends
        if isinstance(ends, File):
            return (self._reference(ends) + " }" + (" transposed: true" if ends.transposed else ""),
                    edges.count)
        if len(ends) != 2 or len(ends[0]) != len(ends[1]):
            raise ValueError(f"{where}: ends are no two lists of the same length")
        count = len(ends[0])
        if any(len(end) and isinstance(end[0], str) for end in ends):
            with self.lines(f"{where}+ends") as lines:
                lines.append(*ends)
            return self._reference(lines.file()) + " }", count
        if isinstance(ends, numpy.ndarray) and ends.ndim == 2 and ends.flags.f_contiguous:
            return self._array(f"{where}+ends", ends.T, count) + " }", count
        pair = [numpy.asarray(end) if count else numpy.zeros(0, numpy.int64) for end in ends]
        dtype = numpy.result_type(*(end.dtype for end in pair))
        if dtype.kind not in "iu" or any(end.ndim != 1 for end in pair):
            raise ValueError(f"{where}: ends are {dtype} {[2, *pair[0].shape]}: integers [2, n]")
        with self.rows(f"{where}+ends", dtype, (count,)) as file:
            for end in pair:
                file.append(end.astype(dtype, copy=False)[None])
        return self._reference(file.file()) + " } transposed: true", count

    def _ids(self, node_type: str, nodes: Nodes) -> str:
        kind = " } id_kind: STRING"
        if isinstance(nodes.ids, File):
            return self._reference(nodes.ids) + (kind if nodes.names else " }")
        if len(nodes.ids) != nodes.count:
            raise ValueError(f"{node_type}: {len(nodes.ids)} ids for {nodes.count} nodes")
        text = self._listed(f"{node_type}+ids", nodes.ids)
        return text + (kind if nodes.count and isinstance(nodes.ids[0], str) else " }")

    def _listed(self, name: str, ids: Any) -> str:
        if not isinstance(ids, File) and len(ids) and isinstance(ids[0], str):
            with self.lines(name) as file:
                file.append(ids)
            ids = file.file()
        if not isinstance(ids, File):
            # An empty list is of floats to NumPy.
            ids = numpy.asarray(ids) if len(ids) else numpy.zeros(0, dtype=numpy.int64)
            if ids.ndim != 1 or ids.dtype.kind not in "iu":
                raise ValueError(f"{name} are {ids.dtype} {list(ids.shape)}: integers [n], or str")
        return self._array(name, ids, -1)

    def _column(self, where: str, name: str, values: Any, count: int, label: bool = False) -> str:
        check_name(name, "column")
        if not isinstance(values, File):
            values = numpy.asarray(values)
            if not label:
                check_dtype(f"{where}.{name}", values.dtype)
        return f"name: {_quoted(name)} array {{ {self._array(f'{where}.{name}', values, count)} }}"

    def _array(self, name: str, values: Any, count: int) -> str:
        """`count` below 0: any."""
        if isinstance(values, File):
            return self._reference(values)
        array = numpy.asarray(values)
        if array.ndim == 0 or (count >= 0 and len(array) != count):
            raise ValueError(f"{name} is {list(array.shape)}: its first length should be {count}")
        with self.rows(name, array.dtype, array.shape[1:]) as file:
            file.append(array)
        return self._reference(file.file())

    def _reference(self, file: File) -> str:
        """Relative where the file is beside the description, so that the folder can be moved."""
        path = os.path.abspath(os.fspath(file.path))
        if os.path.dirname(path) == str(self.folder):
            path = os.path.basename(path)
        text = f"path: {_quoted(path)}"
        text += f" member: {_quoted(file.member)}" if file.member else ""
        text += "".join(f" columns: {column}" for column in file.columns)
        text += " header: true" if file.header else ""
        return text + (f" read_as: {file.read_as}" if file.read_as else "")


class RowFile:
    """An .npy file that grows by rows: little-endian, C order; its header tells how many there are
    once it is closed.

    Memory: 4 MiB, or a row if that is more.
    """

    def __init__(self, path: pathlib.Path, dtype: Any, row_shape: Sequence[int] = ()):
        dtype = numpy.dtype(dtype)
        self.path = path
        self._read_as = "BFLOAT16" if dtype == BFLOAT16 else ""
        self._dtype = numpy.dtype("<u2") if dtype == BFLOAT16 else dtype.newbyteorder("<")
        if self._dtype.kind not in "biuf" or self._dtype.itemsize > 8:
            raise ValueError(f"{path.stem} is {dtype}: numbers and truth values can be columns")
        self._row_shape = tuple(int(extent) for extent in row_shape)
        self.count = 0
        self._header_bytes = len(self._header(10 ** 18))
        self._file = open(path, "xb")
        self._file.write(self._header(0))

    def append(self, rows: Any) -> None:
        """ValueError for another dtype or shape than that of the first rows."""
        array = numpy.asarray(rows)
        if self._read_as and array.dtype == BFLOAT16:
            array = array.view("<u2")
        if array.dtype.newbyteorder("<") != self._dtype or array.shape[1:] != self._row_shape:
            raise ValueError(f"{self.path.stem} is {self._dtype} {['n', *self._row_shape]}, and "
                             f"rows from {self.count} on are {array.dtype} "
                             f"{['n', *array.shape[1:]]}")
        row_bytes = self._dtype.itemsize * int(numpy.prod(self._row_shape, dtype=numpy.int64))
        step = max(1, _CHUNK_BYTES // max(1, row_bytes))
        for begin in range(0, len(array) if row_bytes else 0, step):
            piece = numpy.ascontiguousarray(array[begin:begin + step], dtype=self._dtype)
            self._file.write(piece.reshape(-1).view(numpy.uint8).data)
        self.count += len(array)

    def file(self) -> File:
        """Of the description, once it is closed."""
        return File(self.path, read_as=self._read_as)

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Writes how many rows there are."""
        if not self._file.closed:
            self._file.seek(0)
            self._file.write(self._header(self.count))
            self._file.close()

    def _header(self, count: int) -> bytes:
        fields = {"descr": numpy.lib.format.dtype_to_descr(self._dtype), "fortran_order": False,
                  "shape": (count, *self._row_shape)}
        text = repr(fields).encode("ascii")
        # Of a length that does not depend on the count; the values begin on 64 bytes.
        size = getattr(self, "_header_bytes", -(-(10 + len(text) + 1) // 64) * 64)
        text = text.ljust(size - 11) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


class LineFile:
    """A .csv file of ids that grows by rows, each one or two ids, in quotes if they are strings."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.count = 0
        self._file = open(path, "x", encoding="utf-8", newline="")

    def append(self, *columns: Iterable[Any]) -> None:
        """ValueError for an id that holds an end of line."""
        for row in zip(*columns):
            self._file.write(",".join(map(_field, row)) + "\n")
            self.count += 1

    def file(self) -> File:
        """Of the description, once it is closed."""
        return File(self.path)

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """All rows are in the file."""
        self._file.close()


def check_dtype(where: str, dtype: Any) -> None:
    """ValueError if no column can have it."""
    if dtype == BFLOAT16 or dtype.newbyteorder("=").name in _DTYPES:
        return
    raise ValueError(f"{where} is {dtype}: numbers and truth values can be columns, of bfloat16, "
                     f"{', '.join(_DTYPES)}; cast it, or leave it out")


def check_name(name: Any, what: str) -> None:
    """ValueError if a dataset cannot have it."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"{name!r} is no name of a {what}: 1 to 64 letters, digits, _ and -")


def _check_time_order(columns: Collection[str], time_order: str) -> None:
    if time_order and time_order not in columns:
        raise ValueError(f"time_order is {time_order!r}, and edges have {sorted(set(columns))}")


def _check_copies(nodes: Mapping[str, Nodes], names: Collection[str]) -> None:
    if isinstance(names, str):
        raise ValueError(f"copy_to_edges is {names!r}: give a list of names")
    known = {column for each in nodes.values() for column in each.all_columns()}
    unknown = sorted(set(names) - known)
    if unknown:
        raise ValueError(f"copy_to_edges names {unknown}, which no nodes have; they have "
                         f"{sorted(known)}")


def _check_once(where: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ValueError(f"{where} has {twice} twice: leave one of them out, or rename it")


def _truths(where: str, mask: Any) -> numpy.ndarray:
    array = numpy.asarray(mask)
    if array.dtype == bool:
        return array
    if array.dtype.kind not in "iu" or array.size and not 0 <= array.min() <= array.max() <= 1:
        raise ValueError(f"{where} is {array.dtype}, no bool, nor integers 0 and 1")
    return array.astype(bool)


def _quoted(text: str) -> str:
    escaped = "".join(f"\\{ord(letter):03o}" if letter in "\"\\\n" else letter for letter in text)
    return f'"{escaped}"'


def _field(value: Any) -> str:
    """Of CSV, where a row is a line."""
    if any(letter in str(value) for letter in "\n\r\0"):
        raise ValueError(f"the id {value!r} has an end of line or a NUL, which no id of a text has")
    return '"' + str(value).replace('"', '""') + '"'
