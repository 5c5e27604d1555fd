"""Values of columns that callers give, checked and in the form that the library takes."""

from __future__ import annotations

import array
import ctypes
import struct
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _given, tensors
from .errors import InvalidArgument, NotFound
from .tensors import Tensor

# dtypes by the formats of memoryview, whose widths are the machine's; "?" is bool.
_KINDS = {**dict.fromkeys("bhilqn", "int"), **dict.fromkeys("BHILQN", "uint"),
          **dict.fromkeys("efd", "float")}

# What array.array packs numbers of a dtype by, and where it would make an infinity of one, struct.
_CODES = {"bool": "B", "int8": "b", "uint8": "B", "int16": "h", "int32": "i", "int64": "q",
          "float64": "d"}
_FORMS = {"float16": "e", "float32": "f"}

# Arrays of another dtype that stand for a column's own: bytes 0 and 1, and bits.
_ALSO = {"bool": ("uint8",), "bfloat16": ("int16", "uint16")}


class Given(NamedTuple):
    """Host memory for the library. `data` is what ctypes passes as its address, and keeps it."""

    dtype: str
    shape: Tuple[int, ...]
    data: Any
    num_bytes: int


class GivenRagged(NamedTuple):
    """Likewise of rows of any lengths."""

    row_ends: Any
    indices: Any  # None of lists
    num_indices: int
    values: Given


def columns(where: str, specs: Sequence[Dict[str, Any]], given: Any,
            num_rows: int) -> List[Tuple[str, str, Given]]:
    """Name, dtype and values of each of {name: values}: `specs` are the type's columns, `where` tells
    the type."""
    listed = []
    for name, values in _items("columns", given):
        spec = _find(where, specs, name)
        what = f"column {name!r} of {where}"
        listed.append((name, spec["dtype"],
                       _exactly(what, values, spec["dtype"], (num_rows, *spec["shape"]))))
    return listed


def ragged(where: str, specs: Sequence[Dict[str, Any]], given: Any,
           num_rows: int) -> List[Tuple[str, str, GivenRagged]]:
    """Likewise of ragged columns."""
    listed = []
    for name, rows in _items("ragged", given):
        spec = _find(where, specs, name)
        what = f"ragged column {name!r} of {where}"
        listed.append((name, spec["dtype"], _ragged(what, spec, rows, num_rows)))
    return listed


def _items(what, given):
    if not given:
        return []
    if not hasattr(given, "items"):
        raise InvalidArgument(f"{what} are {type(given).__name__}: give a dict, {{name: values}}")
    return given.items()


def _find(where, specs, name):
    for spec in specs:
        if spec["name"] == name:
            return spec
    known = ", ".join(repr(spec["name"]) for spec in specs) or "none"
    raise NotFound(f"{where} has no such column {name!r}; it has: {known}")


def _exactly(what: str, values: Any, dtype: str, shape: Tuple[int, ...]) -> Given:
    """Of this dtype and shape; numbers in lists are packed, arrays must be so."""
    given = _array(what, values)
    if given is None:
        return _packed(what, values, dtype, shape)
    if given.dtype != dtype and given.dtype not in _ALSO.get(dtype, ()):
        raise InvalidArgument(f"{what} is {dtype}, and is given as {given.dtype}: nothing is "
                              "converted, so convert it first")
    if given.shape != shape:
        raise InvalidArgument(f"{what} is given with the shape {list(given.shape)}: "
                              f"{shape[0]} rows of it have {list(shape)}")
    if dtype == "bool" and ctypes.string_at(given.data, given.num_bytes).strip(b"\0\1"):
        _check_flags(what, ctypes.string_at(given.data, given.num_bytes))
    return given


def _check_flags(what, flags):
    others = flags.translate(None, b"\0\1")
    if others:
        raise InvalidArgument(f"{what} is bool, and holds {others[0]}: give 0 and 1")


def _array(what: str, values: Any) -> Optional[Given]:
    """Of what is no array None."""
    try:
        if isinstance(values, Tensor):
            return Given(*tensors.of_dlpack(values))
        if hasattr(values, "detach"):
            return _of_torch(values)
        if str(getattr(values, "dtype", "")) == "bfloat16":  # NumPy's, by ml_dtypes: has no buffer
            return _of_view(memoryview(values.view("uint16")))._replace(dtype="bfloat16")
        try:
            view = memoryview(values)
        except (TypeError, ValueError, BufferError):
            return Given(*tensors.of_dlpack(values)) if hasattr(values, "__dlpack__") else None
        return _of_view(view)
    except (BufferError, RuntimeError, TypeError) as error:
        raise InvalidArgument(f"{what}: {error}") from error


def _of_torch(values: Any) -> Given:
    values = values.detach().cpu().contiguous()
    if str(values.dtype) != "torch.bool":
        return Given(*tensors.of_dlpack(values))
    return _of_view(memoryview(values.numpy()))


def _of_view(view: memoryview) -> Given:
    form = view.format.lstrip("@=<")
    kind = _KINDS.get(form)
    dtype = "bool" if form == "?" else f"{kind}{8 * view.itemsize}" if kind else repr(view.format)
    shape = tuple(view.shape or ())
    if view.readonly or not view.c_contiguous or view.nbytes == 0:
        return Given(dtype, shape, view.tobytes(), view.nbytes)
    return Given(dtype, shape, (ctypes.c_char * view.nbytes).from_buffer(view), view.nbytes)


def _packed(what: str, values: Any, dtype: str, shape: Tuple[int, ...]) -> Given:
    numbers: List[Any] = []
    _flatten(what, values, shape, shape, numbers)
    _check_numbers(what, dtype, numbers)
    try:
        if dtype == "bfloat16":
            data = array.array("H", map(_bfloat16, numbers)).tobytes()
        elif dtype in _FORMS:
            data = struct.pack(f"={len(numbers)}{_FORMS[dtype]}", *numbers)
        else:
            data = array.array(_CODES[dtype], numbers).tobytes()
    except (OverflowError, struct.error, TypeError, ValueError) as error:
        raise InvalidArgument(f"{what} is {dtype}: {error}") from error
    if dtype == "bool":
        _check_flags(what, data)
    return Given(dtype, shape, data, len(data))


def _flatten(what, values, lengths, shape, numbers):
    if not lengths:
        numbers.append(values)
        return
    if hasattr(values, "tolist"):  # an array among lists
        values = values.tolist()
    elif hasattr(values, "__next__"):
        values = list(values)
    if isinstance(values, (str, dict)) or not hasattr(values, "__len__") or \
            len(values) != lengths[0]:
        had = f"{len(values)} values" if isinstance(values, (list, tuple)) else repr(values)
        raise InvalidArgument(f"{what} has {had} where {lengths[0]} should be: {shape[0]} rows of it "
                              f"have the shape {list(shape)}")
    if len(lengths) == 1 and isinstance(values, (list, tuple)):
        numbers += values
        return
    for each in values:
        _flatten(what, each, lengths[1:], shape, numbers)


def _check_numbers(what, dtype, numbers):
    """A number that would become another one is none of the column's."""
    if set(map(type, numbers)) <= ({int, float} if "float" in dtype else {int}):
        return
    wanted = "__float__" if "float" in dtype else "__index__"
    for number in numbers:
        if not hasattr(number, wanted) or (isinstance(number, bool) and dtype != "bool"):
            raise InvalidArgument(f"{what} is {dtype}, and {number!r}, a {type(number).__name__}, "
                                  "is none")


def _bfloat16(number):
    """Its bits: the upper half of those of float32, rounded to even."""
    bits, = struct.unpack("=I", struct.pack("=f", number))
    if bits & 0x7fffffff > 0x7f800000:
        return bits >> 16 | 0x40  # of what is no number: rounding might make it one
    return bits + 0x7fff + (bits >> 16 & 1) >> 16


def _ragged(what: str, spec: Dict[str, Any], rows: Any, num_rows: int) -> GivenRagged:
    sparse, dtype = spec["num_columns"] > 0, spec["dtype"]
    if hasattr(rows, "tocsr"):  # SciPy's
        given = _of_scipy(what, spec, rows)
    elif hasattr(rows, "row_ends"):  # a Ragged
        given = rows.row_ends, rows.indices, rows.values
    else:
        return _of_rows(what, spec, rows, num_rows)
    row_ends, indices, values = given
    if sparse != (indices is not None):
        raise InvalidArgument(f"{what} is {'a sparse matrix' if sparse else 'of lists'}, and is given "
                              f"as {'a sparse matrix' if indices is not None else 'lists'}")
    ends, count = _given.ids(row_ends)
    if count != num_rows:
        raise InvalidArgument(f"{what} is given with {count} rows for {num_rows}")
    length = (ends[count - 1] if count else 0,)
    taken = _exactly(f"the values of {what}", values, dtype, length)
    if not sparse:
        return GivenRagged(ends, None, 0, taken)
    return GivenRagged(ends, _exactly(f"the indices of {what}", indices, "int32", length).data,
                       length[0], taken)


def _of_scipy(what, spec, matrix):
    if spec["num_columns"] and matrix.shape[1] != spec["num_columns"]:
        raise InvalidArgument(f"{what} has {spec['num_columns']} columns, and is given with the shape "
                              f"{list(matrix.shape)}")
    rows = matrix.tocsr().sorted_indices()
    return rows.indptr[1:], rows.indices.astype("int32"), rows.data


def _of_rows(what: str, spec: Dict[str, Any], rows: Any, num_rows: int) -> GivenRagged:
    rows = list(rows)
    if len(rows) != num_rows:
        raise InvalidArgument(f"{what} is given with {len(rows)} rows for {num_rows}")
    ends, indices, values, end = [], [], [], 0
    for position, row in enumerate(rows):
        where = f"row {position} of {what}"
        if spec["num_columns"]:
            places, row = _pair(where, row)
            indices.append(_bytes_of(where, places, "int32", len(row)))
        elif isinstance(row, str) and spec["dtype"] == "uint8":
            row = row.encode("utf-8", "surrogateescape")
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise InvalidArgument(f"{where} is {row!r}: give its values, a list or an array")
        values.append(_bytes_of(where, row, spec["dtype"], len(row)))
        end += len(row)
        ends.append(end)
    joined = b"".join(values)
    given = Given(spec["dtype"], (end,), joined, len(joined))
    if not spec["num_columns"]:
        return GivenRagged((ctypes.c_int64 * num_rows)(*ends), None, 0, given)
    return GivenRagged((ctypes.c_int64 * num_rows)(*ends), b"".join(indices), end, given)


def _pair(where, row):
    """Indices and values: of a tuple of both, or of a list of pairs."""
    if isinstance(row, tuple) and len(row) == 2:
        return row
    try:
        return [index for index, _ in row], [value for _, value in row]
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{where} is {row!r}: give (indices, values), or pairs of an index and "
                              "its value") from error


def _bytes_of(where, values, dtype, length):
    given = _exactly(where, values, dtype, (length,))
    return ctypes.string_at(given.data, given.num_bytes)
