"""Tables: a row for each node, a row for each edge."""

from __future__ import annotations

import contextlib
import pathlib
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, List, Mapping, Sequence, Tuple, Union

import numpy

from .arrow import ArrowSource
from .frames import FrameSource, is_frame
from .ragged_rows import RaggedRows
from .values import NO_FILL
from .writer import Edges, LineFile, Nodes, RowFile, Writer, check_dtype, check_name

_SPLITS = {"": 0, "train": 1, "valid": 2, "val": 2, "validation": 2, "test": 3}
_SPLIT_NAMES = ("train", "validation", "test")


@dataclass
class NodeTable:
    """Nodes of one type, and which columns of their table are what; all others are columns.

    table:  a DataFrame of pandas; a Table, RecordBatch or RecordBatchReader of pyarrow; anything
            with __arrow_c_stream__ (polars, DuckDB); a Parquet file, a list of them, or a folder of
            them
    id:     integers or strings; "": rows are nodes 0 to n - 1
    label:  a class each, -1: none
    target: the column that is to be learnt, where that is no class
    split:  "train", "validation" (or "val", "valid"), "test", "": none; or 1, 2, 3, 0
    stack:  columns that make one, of one type: {"x": ["x0", "x1", "x2"]}
    fill:   what stands for nulls, by column; without it they are refused
    ragged: columns of texts, or of lists of any lengths, as which they are stored
    skip:   columns to leave out
    """

    table: Any
    id: str = ""
    label: str = ""
    target: str = ""
    split: str = ""
    num_classes: int = 0
    stack: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fill: Mapping[str, Any] = field(default_factory=dict)
    ragged: Collection[str] = ()
    skip: Collection[str] = ()


@dataclass
class EdgeTable:
    """Edges of one type: `source` and `target` are columns with the nodes' ids; `weight` is the one
    that sampling can draw by; the rest is as NodeTable has it."""

    table: Any
    source: str = "source"
    target: str = "target"
    weight: str = ""
    stack: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fill: Mapping[str, Any] = field(default_factory=dict)
    skip: Collection[str] = ()


def from_tables(folder: Any, nodes: Mapping[str, Any], edges: Mapping[Tuple[str, str, str], Any], *,
                name: str = "graph", copy_to_edges: Collection[str] = (),
                time_order: str = "") -> pathlib.Path:
    """Of a NodeTable for each node type and an EdgeTable for each edge type, or just their tables.

    Columns keep their types. Lists, fixed in size or of one length, make rows of several values;
    times become int64, exactly, and the description says in which unit; dictionary-encoded columns
    and categories are decoded. Edge ids are the positions in the table. `copy_to_edges`: columns of
    nodes that edges get from their sources, and `time_order`, the times of edges in whose order
    they are stored: see write().

    Memory: of Parquet a page of each column that is taken, and a batch of at most 64 Ki rows and
            about 4 MiB while it is decoded: some tens of MiB, whatever the size of files and row
            groups. Of others 64 Ki rows beyond the table. Files of a folder are read one after the
            other.
    Errors: ValueError naming the column, and the row, for nulls without `fill`, text and lists of
            several lengths that are not `ragged`, unsigned integers beyond 8 bits, decimals, nested types; nothing is
            cast. The same for columns that are named and not there. Else as write().
    """
    with Writer(folder) as writer:
        made = {node_type: _nodes(writer, node_type,
                                  given if isinstance(given, NodeTable) else NodeTable(given))
                for node_type, given in nodes.items()}
        made_edges = {edge_type: _edges(writer, edge_type, given if isinstance(given, EdgeTable)
                                        else EdgeTable(given), made)
                      for edge_type, given in edges.items()}
        return writer.write(made, made_edges, name, copy_to_edges, time_order)


def _nodes(writer: Writer, node_type: str, table: NodeTable) -> Nodes:
    check_name(node_type, "node type")
    reader = _Reader(writer, node_type, table,
                     [table.id, table.label, table.split, *table.ragged])
    if table.target and table.target not in reader.columns:
        raise ValueError(f"{node_type}: target={table.target!r} is none of the columns "
                         f"{list(reader.columns)}")
    with reader:
        for batch in reader.batches():
            if table.id:
                reader.append_ids("ids", [batch.ids(table.id)])
            if table.label:
                batch.append_label(table.label)
            if table.split:
                batch.append_split(table.split)
            for name in table.ragged:
                batch.append_ragged(name)
    nodes = Nodes(count=reader.count, target=table.target, num_classes=table.num_classes,
                  columns=reader.files(), notes=reader.notes)
    if table.id:
        nodes.ids, nodes.names = reader.ids.file(), isinstance(reader.ids, LineFile)
    if table.label:
        nodes.labels, nodes.label_name = nodes.columns.pop(table.label), table.label
    if table.split:
        nodes.masks = {split: nodes.columns.pop(f"{split}.mask") for split in _SPLIT_NAMES}
    for name in table.ragged:
        nodes.columns[name] = RaggedRows(nodes.columns.pop(f"{name}+offsets"),
                                         nodes.columns.pop(f"{name}+values"))
    return nodes


def _edges(writer: Writer, edge_type: Tuple[str, str, str], table: EdgeTable,
           nodes: Mapping[str, Nodes]) -> Edges:
    for part in edge_type:
        check_name(part, "part of an edge type")
    for end in (edge_type[0], edge_type[2]):
        if end not in nodes:
            raise ValueError(f"{':'.join(edge_type)}: there are no nodes {end!r}, but "
                             f"{list(nodes)}")
    where = ".".join(edge_type)
    reader = _Reader(writer, where, table, [table.source, table.target])
    with reader:
        for batch in reader.batches():
            pair = [batch.ids(table.source), batch.ids(table.target)]
            for column, ids, end in zip((table.source, table.target), pair,
                                        (edge_type[0], edge_type[2])):
                _check_kind(f"{where}.{column}", ids, end, nodes[end])
            reader.append_ids("ends", pair)
    columns = reader.files()
    if table.weight and table.weight not in columns:
        raise ValueError(f"{where}: weight={table.weight!r} is none of the columns {list(columns)}")
    return Edges(ends=reader.ids.file(), columns=columns, weight=table.weight, count=reader.count,
                 notes=reader.notes)


def _check_kind(where: str, ids: Any, node_type: str, nodes: Nodes) -> None:
    if isinstance(ids, list) and not nodes.names:
        raise ValueError(f"{where} is text, and ids of {node_type!r} are integers")
    if not isinstance(ids, list) and nodes.names:
        raise ValueError(f"{where} is {ids.dtype}, and ids of {node_type!r} are strings")


class _Reader:
    """Writes the columns of a table batch by batch; hands out what is of another kind."""

    def __init__(self, writer: Writer, where: str, table: Any, special: Sequence[str]):
        self.count = 0
        self.notes: Dict[str, str] = {}
        self.ids: Any = None  # the file of the nodes' ids, or of the edges' ends
        self._writer = writer
        self.where = where
        self.fill = dict(table.fill)
        self.source: Any = (FrameSource if is_frame(table.table) else ArrowSource)(
            table.table, where, table.skip)
        names = self.source.names
        for name in names:
            check_name(name, f"column ({where})")
        if len(set(names)) != len(names):
            raise ValueError(f"{where}: several columns have one name: "
                             f"{sorted({name for name in names if names.count(name) > 1})}")
        self.stacked = {name: list(parts) for name, parts in table.stack.items()}
        parts = [part for each in self.stacked.values() for part in each]
        taken = [name for name in special if name]
        for name in [*taken, *parts, *self.fill]:
            if name not in names:
                raise ValueError(f"{where} has no column {name!r}: there are {names}")
        plain = [name for name in names if name not in {*taken, *parts}]
        self.columns = {name: [name] for name in plain}
        for name, each in self.stacked.items():
            if name in self.columns or not each:
                raise ValueError(f"{where}: stack={name!r} is a column already, or of nothing")
            self.columns[name] = each
        self._files: Dict[str, RowFile] = {}
        self._ends: Dict[str, int] = {}  # of ragged columns, in values
        self._open = contextlib.ExitStack()

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def files(self) -> Dict[str, Any]:
        """All that was written."""
        return {name: file.file() for name, file in self._files.items()}

    def batches(self) -> Any:
        """Each when its plain columns are written."""
        for arrays in self.source.batches():
            batch = _Batch(self, dict(zip(self.source.names, arrays)), self.count)
            for name, parts in self.columns.items():
                self.append(name, batch.block(name, parts))
            yield batch
            self.count += len(arrays[0]) if arrays else 0

    def append_ids(self, what: str, columns: List[Any]) -> None:
        """One column, or two, of strings or integers."""
        name = f"{self.where}+{what}"
        text = any(isinstance(ids, list) for ids in columns)
        if self.ids is None and text:
            self.ids = self._open.enter_context(self._writer.lines(name))
        elif self.ids is None:
            types = [ids.dtype for ids in columns]
            dtype = numpy.result_type(*types)
            if dtype.kind not in "iu":
                raise ValueError(f"{self.where}: ids are {types[0]} and {types[1]}, which no "
                                 "integer type holds both: cast one of them")
            self.ids = self._open.enter_context(self._writer.rows(
                name, dtype, () if len(columns) == 1 else (len(columns),)))
        if text:
            self.ids.append(*columns)
        else:
            self.ids.append(columns[0] if len(columns) == 1 else numpy.stack(columns, axis=1))

    def append_ragged(self, name: str, lengths: numpy.ndarray, values: numpy.ndarray) -> None:
        """Rows of any lengths."""
        if name not in self._ends:
            self._ends[name] = 0
            self.append(f"{name}+offsets", numpy.zeros(1, numpy.int64))
        self.append(f"{name}+offsets",
                    self._ends[name] + numpy.cumsum(lengths, dtype=numpy.int64))
        self._ends[name] += int(numpy.sum(lengths))
        if f"{name}+values" not in self._files or len(values):  # an empty list is of any type
            self.append(f"{name}+values", values)

    def append(self, name: str, values: numpy.ndarray, label: bool = False) -> None:
        if name not in self._files:
            if not label:
                check_dtype(f"{self.where}.{name}", values.dtype)
            self._files[name] = self._open.enter_context(
                self._writer.rows(f"{self.where}.{name}", values.dtype, values.shape[1:]))
        self._files[name].append(values)


class _Batch:
    def __init__(self, reader: _Reader, arrays: Dict[str, Any], row: int):
        self._reader = reader
        self._arrays = arrays
        self._row = row

    def _numbers(self, name: str) -> numpy.ndarray:
        reader = self._reader
        values = reader.source.numbers(f"{reader.where}.{name}", self._arrays[name], self._row,
                                       reader.fill.get(name, NO_FILL))
        note = reader.source.note(self._arrays[name])
        if note:
            reader.notes[name] = note
        return values

    def _text(self, name: str) -> Any:
        reader = self._reader
        return reader.source.text(f"{reader.where}.{name}", self._arrays[name], self._row,
                                  reader.fill.get(name, NO_FILL))

    def block(self, name: str, parts: Sequence[str]) -> numpy.ndarray:
        """A column, perhaps of several."""
        if list(parts) == [name] and name not in self._reader.stacked:
            return self._numbers(name)
        blocks = [self._numbers(part) for part in parts]
        if len({(each.dtype, each.shape) for each in blocks}) > 1:
            types = {part: str(each.dtype) for part, each in zip(parts, blocks)}
            raise ValueError(f"{self._reader.where}.{name}: columns to be stacked are of several "
                             f"types: {types}")
        return numpy.stack(blocks, axis=1)

    def ids(self, name: str) -> Union[List[str], numpy.ndarray]:
        """Strings or integers."""
        text = self._text(name)
        if text is not None:
            return text
        ids = self._numbers(name)
        if ids.ndim != 1 or ids.dtype.kind not in "iu":
            hint = ("; pandas makes that of integers where some are missing: astype('Int64')"
                    if ids.dtype.kind == "f" else "")
            raise ValueError(f"{self._reader.where}.{name} is {ids.dtype} {['n', *ids.shape[1:]]}, "
                             f"and ids are integers or strings{hint}")
        return ids

    def append_label(self, name: str) -> None:
        if self._text(name) is not None:
            raise ValueError(f"{self._reader.where}.{name} is text, and a label is an integer: "
                             "pandas.factorize() numbers classes")
        self._reader.append(name, self._numbers(name), label=True)

    def append_ragged(self, name: str) -> None:
        text = self._text(name)
        if text is None:
            where = f"{self._reader.where}.{name}"
            self._reader.append_ragged(
                name, *self._reader.source.lists(where, self._arrays[name], self._row))
            return
        stored = RaggedRows.of_texts(text)
        self._reader.append_ragged(name, numpy.diff(stored.offsets), stored.values)

    def append_split(self, name: str) -> None:
        where = f"{self._reader.where}.{name}"
        text = self._text(name)
        values = self._numbers(name) if text is None else numpy.array(
            [_SPLITS.get(value, -1) for value in text], dtype=numpy.int64)
        known = 'and a split is "train", "validation", "test" or "", or 1, 2, 3 or 0'
        if values.ndim != 1 or values.dtype.kind not in "iu":
            raise ValueError(f"{where} is {values.dtype}, {known}")
        wrong = numpy.flatnonzero((values < 0) | (values > 3))
        if len(wrong):
            given = values[wrong[0]] if text is None else text[wrong[0]]
            raise ValueError(f"{where} is {given!r} in row {self._row + int(wrong[0])}, {known}")
        for value, split in enumerate(_SPLIT_NAMES, start=1):
            self._reader.append(f"{split}.mask", values == value)
