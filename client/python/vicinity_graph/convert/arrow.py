"""Tables of Arrow and Parquet as batches of arrays. pyarrow is the user's; it is imported when a
table asks for it."""

from __future__ import annotations

import importlib
import os
import pathlib
from typing import Any, Collection, Iterator, List, Optional, Sequence, Tuple

import numpy

from .values import NO_FILL, check_lengths, exactly, null, text_of_fill

_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 22
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def pyarrow(what: str) -> Any:
    """The package; ValueError if there is none."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise ValueError(f"{what} takes pyarrow to read: pip install pyarrow") from error


def parquet_file(path: Any) -> Any:
    """Of one file; ValueError if it is none."""
    pa = pyarrow(path)
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {error}") from error


def parquet_batches(path: Any, columns: Optional[Sequence[str]] = None) -> Iterator[Any]:
    """All of a file, in batches of at most 64 Ki rows and about 4 MiB, which end with row groups;
    of a file without rows one batch without rows, of all columns."""
    file = parquet_file(path)
    if not file.metadata.num_rows:
        schema = file.schema_arrow
        yield pyarrow(path).RecordBatch.from_arrays(
            [pyarrow(path).array([], field.type) for field in schema], schema=schema)
    for group in range(file.num_row_groups):
        meta = file.metadata.row_group(group)
        row_bytes = meta.total_byte_size // max(1, meta.num_rows)
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, row_bytes)))
        try:
            yield from file.iter_batches(batch_size=rows, row_groups=[group], columns=columns)
        except pyarrow(path).ArrowInvalid as error:
            raise ValueError(f"{path}, row group {group}: {error}") from error


class ArrowSource:
    """A table, a stream of batches, or Parquet files: batches of at most 64 Ki rows.

    Memory: of Parquet a page of each column that is taken, and a batch of about 4 MiB while it is
            decoded: 20 MiB were measured, for row groups of 4 and of 64 MiB. A row that is longer
            than a batch takes what it takes.
    """

    def __init__(self, table: Any, where: str, skip: Collection[str]):
        self._pa = pyarrow(where)
        self._skip = set(skip)
        self._paths: List[pathlib.Path] = []
        if isinstance(table, (str, os.PathLike)):
            self._paths = _files_of(pathlib.Path(table))
        elif isinstance(table, (list, tuple)):
            self._paths = [pathlib.Path(each) for each in table]
        self._batches: Any = ()
        if self._paths:
            self._schema = self._common_schema()
        else:
            reader = self._reader(table, where)
            self._schema, self._batches = reader.schema, reader
        self.names = [name for name in self._schema.names if name not in self._skip]

    def batches(self) -> Iterator[List[Any]]:
        """Arrays in the order of `names`; at least one batch, if without rows."""
        empty = True
        for batch in self._all_batches():
            arrays = [batch.column(self._schema.names.index(name)) if not self._paths
                      else batch.column(name) for name in self.names]
            for begin in range(0, batch.num_rows, _BATCH_ROWS):
                empty = False
                yield [array.slice(begin, _BATCH_ROWS) for array in arrays]
        if empty:
            yield [self._pa.array([], type=self._schema.field(name).type) for name in self.names]

    def numbers(self, where: str, array: Any, row: int = 0, fill: Any = NO_FILL) -> numpy.ndarray:
        return numbers_of(where, array, row, fill)

    def text(self, where: str, array: Any, row: int, fill: Any) -> Optional[List[str]]:
        """None if it is none."""
        if self._pa.types.is_dictionary(array.type):
            array = _decoded(array)
        if not _is_text(self._pa.types, array.type):
            return None
        if array.null_count:
            _refuse_null(where, array, row, fill)
            fill = text_of_fill(where, fill)
        return [fill if value is None else value for value in array.to_pylist()]

    def lists(self, where: str, array: Any, row: int) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """Of lists of any lengths: these, [n], and all their values."""
        return lists_of(where, array, row)

    def note(self, array: Any) -> str:
        """What one must know to read the numbers; empty: nothing."""
        return _unit_of(self._pa.types, array.type)

    def _reader(self, table: Any, where: str) -> Any:
        pa = self._pa
        if isinstance(table, pa.RecordBatchReader):
            return table
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        if isinstance(table, pa.Table):
            return table.to_reader(max_chunksize=_BATCH_ROWS)
        if hasattr(table, "__arrow_c_stream__"):
            if not hasattr(pa.RecordBatchReader, "from_stream"):
                raise ValueError(f"{where}: a {type(table).__name__} takes pyarrow 15 or newer, "
                                 f"and this is {pa.__version__}")
            return pa.RecordBatchReader.from_stream(table)
        raise ValueError(f"{where} is a {type(table).__name__}, no table: give a DataFrame, a "
                         "table or reader of pyarrow's, what has __arrow_c_stream__, or paths of "
                         "Parquet files")

    def _common_schema(self) -> Any:
        first = parquet_file(self._paths[0]).schema_arrow
        for path in self._paths[1:]:
            schema = parquet_file(path).schema_arrow
            if not schema.equals(first):
                raise ValueError(f"{path}: its columns are {_columns(schema)}, and those of "
                                 f"{self._paths[0]} are {_columns(first)}")
        return first

    def _all_batches(self) -> Iterator[Any]:
        if not self._paths:
            yield from self._batches
        for path in self._paths:
            yield from parquet_batches(path, self.names)


def numbers_of(where: str, array: Any, row: int = 0, fill: Any = NO_FILL) -> numpy.ndarray:
    """[n, ...] of an Arrow array whose first row is `row`, for messages. ValueError for values that
    are no numbers, for nulls without a fill, and for lists of several lengths."""
    types = pyarrow(where).types
    if hasattr(array, "storage"):  # an extension; the only one known has a shape for each row
        shape = getattr(array.type, "shape", None)
        if shape is None or getattr(array.type, "permutation", None) not in (None, list(
                range(len(shape)))):
            raise ValueError(f"{where} is {array.type}: leave it out by skip=")
        return numbers_of(where, array.storage, row, fill).reshape(len(array), *shape)
    kind = array.type
    if types.is_dictionary(kind):
        return numbers_of(where, _decoded(array), row, fill)
    if types.is_fixed_size_list(kind):
        width = kind.list_size
        values = array.values.slice(array.offset * width, len(array) * width)
        return _rows(where, array, values, width, row, fill)
    if types.is_list(kind) or types.is_large_list(kind):
        offsets = array.offsets.to_numpy()
        if array.null_count:
            _refuse_null(where, array, row, NO_FILL)
        width = check_lengths(where, numpy.diff(offsets), row)
        values = array.values.slice(offsets[0], offsets[-1] - offsets[0])
        return _rows(where, array, values, width, row, fill)
    return _plain(where, types, array, row, fill)


def lists_of(where: str, array: Any, row: int) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Of an Arrow array of lists of any lengths, whose first row is `row`, for messages: the lengths,
    [n], and all their values. ValueError for nulls, and for what is no list of numbers."""
    types = pyarrow(where).types
    kind = array.type
    if types.is_fixed_size_list(kind):
        values = numbers_of(where, array, row)
        lengths = numpy.full(len(array), kind.list_size, numpy.int64)
        return _flat(where, lengths, values.reshape(-1, *values.shape[2:]))
    if not (types.is_list(kind) or types.is_large_list(kind)):
        raise ValueError(f"{where} is {kind}: texts and lists can be ragged")
    if array.null_count:
        _refuse_null(where, array, row, NO_FILL)
    offsets = array.offsets.to_numpy()
    values = array.values.slice(offsets[0], offsets[-1] - offsets[0])
    if values.null_count:
        position = int(_nulls(values).argmax()) + offsets[0]
        raise null(where, row + int(numpy.searchsorted(offsets, position, "right")) - 1)
    return _flat(where, numpy.diff(offsets), numbers_of(where, values))


def _flat(where: str, lengths: numpy.ndarray, values: numpy.ndarray
          ) -> Tuple[numpy.ndarray, numpy.ndarray]:
    if values.ndim != 1:
        raise ValueError(f"{where} is of lists of lists: a ragged row is one list of numbers")
    return lengths, values


def _plain(where: str, types: Any, array: Any, row: int, fill: Any) -> numpy.ndarray:
    pa = pyarrow(where)
    kind = array.type
    if types.is_temporal(kind) and not types.is_interval(kind):
        # Exactly as they are, in their unit.
        array = array.view(pa.int64() if kind.bit_width == 64 else pa.int32()).cast(pa.int64())
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
              or types.is_null(kind)):
        raise ValueError(f"{where} is {kind}: numbers, truth values, times, and lists of them of "
                         "one length can be columns; leave it out by skip=")
    nulls = _nulls(array)
    if nulls is None:
        return array.to_numpy(zero_copy_only=False)
    _refuse_null(where, array, row, fill)
    dtype = array.type.to_pandas_dtype()
    values = array.fill_null(pa.scalar(dtype(0).item(), type=array.type))
    values = numpy.array(values.to_numpy(zero_copy_only=False))
    values[nulls] = exactly(where, fill, values.dtype)
    return values


def _rows(where: str, array: Any, values: Any, width: int, row: int, fill: Any) -> numpy.ndarray:
    """Of lists of one width; a null list has values, too, which say nothing."""
    nulls = _nulls(array)
    if nulls is not None:
        _refuse_null(where, array, row, fill)
    inner = _nulls(values)
    if inner is not None and fill is NO_FILL:
        raise null(where, row + int(inner.argmax()) // width)
    numbers = numbers_of(where, values, row * width, fill)
    numbers = numbers.reshape(len(array), width, *numbers.shape[1:])
    if nulls is not None:
        numbers = numpy.array(numbers)
        numbers[nulls] = exactly(where, fill, numbers.dtype)
    return numbers


def _is_text(types: Any, kind: Any) -> bool:
    # polars' strings are views, which older pyarrow does not know.
    return (types.is_string(kind) or types.is_large_string(kind)
            or getattr(types, "is_string_view", lambda _: False)(kind))


def _decoded(array: Any) -> Any:
    """Of a dictionary; pyarrow cannot decode one of views."""
    pa = pyarrow("a dictionary")
    values = array.dictionary
    if _is_text(pa.types, values.type):
        values = pa.array(values.to_pylist(), pa.large_string())
        array = pa.DictionaryArray.from_arrays(array.indices, values)
    return array.dictionary_decode()


def _nulls(array: Any) -> Optional[numpy.ndarray]:
    """Which are null; None: none."""
    return array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None


def _refuse_null(where: str, array: Any, row: int, fill: Any) -> None:
    if fill is NO_FILL:
        nulls = _nulls(array)
        raise null(where, row + int(nulls.argmax() if nulls is not None else 0))


def _unit_of(types: Any, kind: Any) -> str:
    if types.is_timestamp(kind):
        zone = "UTC" if kind.tz else "of no time zone"
        return f"int64, {_UNITS[kind.unit]} since 1970-01-01, {zone}"
    if types.is_date(kind):
        return f"int64, {'days' if types.is_date32(kind) else 'milliseconds'} since 1970-01-01"
    if types.is_duration(kind):
        return f"int64, {_UNITS[kind.unit]}"
    if types.is_time(kind):
        return f"int64, {_UNITS[kind.unit]} since midnight"
    return ""


def _files_of(path: pathlib.Path) -> List[pathlib.Path]:
    """A file, or those of a folder, in the order of their names."""
    if not path.is_dir():
        with open(path, "rb"):
            return [path]
    found = sorted(each for each in path.iterdir() if not each.name.startswith(("_", ".")))
    other = [each.name for each in found if each.is_dir() or each.suffix != ".parquet"]
    if other or not found:
        raise ValueError(f"{path}: {'has ' + str(other) + ' beside' if other else 'has no'} "
                         ".parquet files: give a list of the files (what names of folders say, as "
                         "in year=2020, is in no column)")
    return found


def _columns(schema: Any) -> Sequence[str]:
    return [f"{field.name} {field.type}" for field in schema]
