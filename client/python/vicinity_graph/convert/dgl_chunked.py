"""DGL's chunked format, which its distributed partitioning and GraphStorm read and write."""

from __future__ import annotations

import ast
import json
import pathlib
from typing import Any, Collection, Dict, Iterator, List, Mapping, Sequence, Tuple, Union

import numpy

from .arrow import numbers_of, parquet_batches, parquet_file
from .files import Npy, fields_per_row, joined_npy, joined_text, shape_and_type
from .roles import add_node_file, set_weight
from .writer import Edges, File, Nodes, Writer


def from_dgl_chunked(metadata_json: Any, folder: Any, *, name: str = "", label: str = "label",
                     weight: str = "", skip: Collection[str] = (),
                     copy_to_edges: Collection[str] = (), time_order: str = "") -> pathlib.Path:
    """Of the metadata.json, whose relative paths count from its folder; chunks in csv, numpy and
    parquet (which takes pyarrow).

    Node and edge data become columns of their names; ids are DGL's, edge ids the positions in the
    chunks, one after the other. Node data `label`, if it is one integer a node, becomes the labels,
    else the target; train_mask, val_mask and test_mask are the splits; edge data `weight` is what
    sampling can draw by. `skip`: names of data to leave out. `copy_to_edges`: columns of nodes that
    edges get from their sources, and `time_order`, the times of edges in whose order they are
    stored: see write().

    Memory: some tens of MiB. Of one chunk alone nothing is copied: a numpy chunk, and a csv chunk
            whose name ends as its delimiter asks (.csv, .tsv, .txt for blanks).
    Errors: ValueError naming the file whose rows, shape or dtype are not those of the metadata, or
            of the chunk before it; FileNotFoundError; else as write().
    """
    path = pathlib.Path(metadata_json)
    meta = json.loads(path.read_text(encoding="utf-8"))
    with Writer(folder) as writer:
        source = _Chunks(path, meta, writer, skip)
        nodes, edges = _converted(source, label, weight)
        return writer.write(nodes, edges, name or source.name(), copy_to_edges, time_order)


def _converted(source: _Chunks, label: str,
               weight: str) -> Tuple[Dict[str, Nodes], Dict[Tuple[str, str, str], Edges]]:
    nodes = {}
    for node_type, counts in source.counts("node"):
        made = nodes[node_type] = Nodes(count=sum(counts))
        for key, array in source.arrays("node_data", node_type, counts):
            add_node_file(made, key, array, key == label and _is_class(array), label)
    edges = {}
    for edge_type, counts in source.counts("edge"):
        made_edges = edges[source.triplet(edge_type)] = source.edges(edge_type, counts)
        made_edges.columns.update(source.arrays("edge_data", edge_type, counts))
    source.refuse_other_types()
    set_weight(edges, weight)
    return nodes, edges


class _Chunks:
    def __init__(self, path: pathlib.Path, meta: Mapping[str, Any], writer: Writer,
                 skip: Collection[str]):
        self.writer = writer
        self._path = path
        self._meta = meta
        self._skip = set(skip)

    def counts(self, kind: str) -> List[Tuple[str, List[int]]]:
        """Of each type; [] where the metadata tells the sum alone, as GraphStorm's does."""
        types = self._field(f"{kind}_type")
        chunks: Any = self._meta.get(f"num_{kind}s_per_chunk")
        totals: Any = self._meta.get(f"num_{kind}s_per_type")
        if chunks is None and totals is None:
            raise ValueError(f"{self._path} has neither num_{kind}s_per_chunk nor "
                             f"num_{kind}s_per_type")
        counts = [[int(count)] for count in totals] if chunks is None else [
            [int(count) for count in each] for each in chunks]
        if len(counts) != len(types) or (totals is not None and
                                         [sum(each) for each in counts] != list(totals)):
            raise ValueError(f"{self._path}: the counts of {kind} types {types} are {chunks}, and "
                             f"num_{kind}s_per_type is {totals}")
        return list(zip(types, counts))

    def name(self) -> str:
        return str(self._meta.get("graph_name", "graph"))

    def triplet(self, edge_type: str) -> Tuple[str, str, str]:
        """Source, relation and target."""
        parts = edge_type.split(":")
        if len(parts) != 3:
            raise ValueError(f"{self._path}: {edge_type!r} is no name of an edge type: "
                             "source:relation:target")
        return parts[0], parts[1], parts[2]

    def refuse_other_types(self) -> None:
        """ValueError for data of a type that is not listed, which would be lost."""
        for field, kind in (("node_data", "node"), ("edge_data", "edge"), ("edges", "edge")):
            other = sorted(set(self._meta.get(field) or {}) - set(self._field(f"{kind}_type")))
            if other:
                raise ValueError(f"{self._path}: {field} of {other}, which {kind}_type does not "
                                 "list")

    def arrays(self, field: str, type_name: str, counts: Sequence[int]
               ) -> Iterator[Tuple[str, Union[File, numpy.ndarray]]]:
        """Data of a type, by name."""
        for key, chunks in ((self._meta.get(field) or {}).get(type_name) or {}).items():
            if key not in self._skip:
                where = type_name.replace(":", ".")
                yield key, self._joined(f"{where}.{key}", chunks, counts)

    def edges(self, edge_type: str, counts: Sequence[int]) -> Edges:
        """Their ends."""
        chunks = self._field("edges").get(edge_type)
        if chunks is None:
            raise ValueError(f"{self._path}: edges has no {edge_type}")
        ends = self._joined(f"{edge_type.replace(':', '.')}+ends", chunks, counts)
        if isinstance(ends, numpy.ndarray):
            ends = ends.T
        return Edges(ends=ends, count=sum(counts))

    def _joined(self, name: str, chunks: Mapping[str, Any], counts: Sequence[int]
                ) -> Union[File, numpy.ndarray]:
        paths = [self._path.parent / each for each in chunks["data"]]
        if not paths:
            raise ValueError(f"{self._path}: {name} has no chunks")
        kind = chunks["format"]["name"]
        if kind == "csv":
            return joined_text(self.writer, name, paths, chunks["format"].get("delimiter", ","),
                               self._of_each(name, paths, counts, None))
        if kind == "numpy":
            parts = [Npy(path) for path in paths]
            rows = [part.shape[0] for part in parts]
            self._of_each(name, paths, counts, rows)
            return joined_npy(self.writer, name, parts)
        if kind == "parquet":
            return self._joined_parquet(name, paths, counts)
        raise ValueError(f"{self._path}: {name} is of the format {kind!r}: csv, numpy and parquet "
                         "are known")

    def _of_each(self, name: str, paths: Sequence[pathlib.Path], counts: Sequence[int],
                 found: Any) -> List[int]:
        """How many rows each chunk should have, and, if that is known, has; below 0: any number."""
        if len(counts) == 1 and len(paths) > 1:
            if found is not None and sum(found) != counts[0]:
                raise ValueError(f"{self._path}: {name} should have {counts[0]} rows, and its "
                                 f"files have {found}")
            return [-1] * len(paths)
        if len(counts) != len(paths):
            raise ValueError(f"{self._path}: {name} has {len(paths)} files, and {len(counts)} "
                             "chunks are counted")
        for path, count, rows in zip(paths, counts, found or counts):
            if count != rows:
                raise ValueError(f"{path} has {rows} rows, and {self._path.name} says {count}")
        return list(counts)

    def _joined_parquet(self, name: str, paths: Sequence[pathlib.Path], counts: Sequence[int]
                        ) -> File:
        files = [parquet_file(path) for path in paths]
        self._of_each(name, paths, counts, [file.metadata.num_rows for file in files])
        rows: Any = None
        for path, file in zip(paths, files):
            shape = _shape_of(path, file.schema_arrow.metadata or {})
            for batch in parquet_batches(path):
                # As DGL reads a table: a matrix, unless the file says another shape.
                columns = [numbers_of(f"{path}: column {column}", values)
                           for column, values in zip(batch.schema.names, batch.columns)]
                block = _matrix(path, batch.schema.names, columns)
                block = block.reshape(len(block), *shape) if shape is not None else block
                if rows is None:
                    rows = self.writer.rows(name, block.dtype, block.shape[1:])
                rows.append(block)
        rows.close()
        return rows.file()

    def _field(self, name: str) -> Any:
        if name not in self._meta:
            raise ValueError(f"{self._path} has no {name}: it is no metadata of DGL's chunked "
                             "format")
        return self._meta[name]


def _matrix(path: pathlib.Path, names: Sequence[str], columns: List[numpy.ndarray]
            ) -> numpy.ndarray:
    if len({column.dtype for column in columns}) != 1:
        types = {name: str(column.dtype) for name, column in zip(names, columns)}
        raise ValueError(f"{path}: columns are of several types, {types}, and make no array")
    if len(columns) == 1 and columns[0].ndim > 1:
        return columns[0]
    return numpy.stack(columns, axis=1)


def _shape_of(path: pathlib.Path, metadata: Dict[bytes, bytes]) -> Any:
    """Of a row; None: the file says nothing."""
    if b"shape" not in metadata:
        return None
    try:
        shape = ast.literal_eval(metadata[b"shape"].decode())
        return tuple(int(extent) for extent in shape[1:])
    except (SyntaxError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: its shape {metadata[b'shape']!r} is none") from error


def _is_class(array: Union[File, numpy.ndarray]) -> bool:
    if isinstance(array, File) and not str(array.path).endswith(".npy"):
        return fields_per_row(array.path) == 1
    shape, dtype = shape_and_type(array)
    return dtype.kind in "iu" and int(numpy.prod(shape[1:], dtype=numpy.int64)) == 1

