"""DataFrames of pandas as batches of arrays, without pyarrow, which has other ideas of NaN."""

from __future__ import annotations

from typing import Any, Collection, Iterator, List, Optional, Tuple

import numpy

from .arrow import lists_of, numbers_of, pyarrow
from .values import NO_FILL, check_lengths, exactly, null, text_of_fill

_BATCH_ROWS = 1 << 16
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def is_frame(table: Any) -> bool:
    """Whether it is a DataFrame; pandas is not imported."""
    return type(table).__module__.split(".")[0] == "pandas" and hasattr(table, "iloc")


class FrameSource:
    """Batches of at most 64 Ki rows of a DataFrame, whose index is not taken."""

    def __init__(self, table: Any, where: str, skip: Collection[str]):
        if any(name is not None for name in table.index.names):
            raise ValueError(f"{where}: the index {list(table.index.names)} is no column: "
                             "reset_index() makes it one, reset_index(drop=True) leaves it out")
        self._table = table
        self._all_names = list(table.columns)
        self.names = [name for name in self._all_names if name not in set(skip)]

    def batches(self) -> Iterator[List[Any]]:
        """Series in the order of `names`; at least one batch, if without rows."""
        columns = [self._all_names.index(name) for name in self.names]
        for begin in range(0, max(len(self._table), 1), _BATCH_ROWS):
            rows = self._table.iloc[begin:begin + _BATCH_ROWS]
            yield [rows.iloc[:, column] for column in columns]

    def numbers(self, where: str, series: Any, row: int = 0, fill: Any = NO_FILL) -> numpy.ndarray:
        """[n, ...]; ValueError for what is no number, and for a missing value without a fill."""
        dtype = series.dtype
        if hasattr(dtype, "pyarrow_dtype"):
            return numbers_of(where, pyarrow(where).array(series.array), row, fill)
        if dtype.name == "category":
            return self._decoded(where, series, row, fill)
        if dtype.kind in "mM":
            unit = getattr(dtype, "unit", None) or numpy.datetime_data(dtype)[0]
            name = "datetime64" if dtype.kind == "M" else "timedelta64"
            values = series.to_numpy(dtype=f"{name}[{unit}]")
            return self._filled(where, values.view(numpy.int64), numpy.isnat(values), row, fill)
        if dtype == object:
            return self._lists(where, series, row)
        if isinstance(dtype, numpy.dtype):
            return series.to_numpy()
        if not hasattr(dtype, "numpy_dtype"):
            raise ValueError(f"{where} is {dtype}: numbers, truth values, times, and lists of them "
                             "of one length can be columns; leave it out by skip=")
        # Int64 and the like: numbers, and which of them are missing.
        nulls = series.isna().to_numpy()
        values = series.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
        return self._filled(where, values, nulls, row, fill)

    def text(self, where: str, series: Any, row: int, fill: Any) -> Optional[List[str]]:
        """None if it is none."""
        dtype = series.dtype
        if dtype.name == "category":
            categories = self.text(where, series.cat.categories, 0, NO_FILL)
            if categories is None:
                return None
            codes = series.cat.codes.to_numpy()
            self._refuse_null(where, codes < 0, row, fill)
            fill = text_of_fill(where, fill)
            return [categories[code] if code >= 0 else fill for code in codes]
        if not (dtype == object or dtype.name.startswith(("string", "str"))):
            return None
        nulls = series.isna()
        nulls = nulls if isinstance(nulls, numpy.ndarray) else nulls.to_numpy()
        values = list(series)
        known = [value for value, missing in zip(values, nulls) if not missing]
        if known and not isinstance(known[0], str):
            return None
        self._refuse_null(where, nulls, row, fill)
        fill = text_of_fill(where, fill)
        values = [fill if missing else value for value, missing in zip(values, nulls)]
        for position, value in enumerate(values):
            if not isinstance(value, str):
                raise ValueError(f"{where} is text, but in row {row + position} it is {value!r}")
        return values

    def note(self, series: Any) -> str:
        """What one must know to read the numbers; empty: nothing."""
        dtype = series.dtype
        if getattr(dtype, "kind", "") not in "mM" or hasattr(dtype, "pyarrow_dtype"):
            return ""
        unit = _UNITS[getattr(dtype, "unit", None) or numpy.datetime_data(dtype)[0]]
        if dtype.kind == "m":
            return f"int64, {unit}"
        zone = "UTC" if getattr(dtype, "tz", None) else "of no time zone"
        return f"int64, {unit} since 1970-01-01, {zone}"

    def _decoded(self, where: str, series: Any, row: int, fill: Any) -> numpy.ndarray:
        codes = series.cat.codes.to_numpy()
        self._refuse_null(where, codes < 0, row, fill)
        values = self.numbers(where, series.cat.categories, 0, NO_FILL)
        if not (codes < 0).any():
            return values[codes]
        taken = numpy.where((codes < 0).reshape(-1, *[1] * (values.ndim - 1)),
                            exactly(where, fill, values.dtype), values[codes] if len(values) else 0)
        return taken.astype(values.dtype)

    def lists(self, where: str, series: Any, row: int) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """Of lists of any lengths: these, [n], and all their values."""
        if hasattr(series.dtype, "pyarrow_dtype"):
            return lists_of(where, pyarrow(where).array(series.array), row)
        if series.dtype != object:
            raise ValueError(f"{where} is {series.dtype}: texts and lists can be ragged")
        rows = self._arrays(where, series, row)
        if any(each.ndim != 1 for each in rows):
            raise ValueError(f"{where} is of lists of lists: a ragged row is one list of numbers")
        lengths = numpy.array([len(each) for each in rows], numpy.int64)
        return lengths, numpy.concatenate([each for each in rows if each.size] or rows[:1])

    def _lists(self, where: str, series: Any, row: int) -> numpy.ndarray:
        """Objects, which must be lists or arrays of one length and type."""
        rows = self._arrays(where, series, row)
        check_lengths(where, [len(value) for value in rows], row)
        return numpy.stack(rows)

    def _arrays(self, where: str, series: Any, row: int) -> List[Any]:
        """Of objects, which must be lists or arrays of one type; of an empty list that is any."""
        missing = series.isna()
        missing = missing if isinstance(missing, numpy.ndarray) else missing.to_numpy()
        self._refuse_null(where, missing, row, NO_FILL)
        rows: List[Any] = [
            numpy.asarray(value) if isinstance(value, (list, tuple, numpy.ndarray)) else None
            for value in series]
        for position, (value, given) in enumerate(zip(rows, series)):
            if value is None or value.dtype.kind not in "biuf" or value.ndim == 0:
                raise ValueError(f"{where} holds {given!r} in row {row + position}: numbers, truth "
                                 "values, times, and lists of them of one length can be columns; "
                                 "leave it out by skip=")
        filled = [position for position, value in enumerate(rows) if value.size]
        for position in filled:
            first, value = rows[filled[0]], rows[position]
            if value.dtype != first.dtype:
                raise ValueError(f"{where} is {first.dtype} in row {row + filled[0]}, and "
                                 f"{value.dtype} in row {row + position}: a column has one type")
        return rows

    def _filled(self, where: str, values: numpy.ndarray, nulls: numpy.ndarray, row: int, fill: Any
                ) -> numpy.ndarray:
        self._refuse_null(where, nulls, row, fill)
        if nulls.any():
            values = numpy.array(values)
            values[nulls] = exactly(where, fill, values.dtype)
        return values

    def _refuse_null(self, where: str, nulls: numpy.ndarray, row: int, fill: Any) -> None:
        if fill is NO_FILL and nulls.any():
            raise null(where, row + int(nulls.argmax()))
