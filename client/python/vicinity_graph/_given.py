"""What callers give, in the form that the library takes: ids, names, options."""

from __future__ import annotations

import array
import ctypes
import itertools
import json
import operator
import os
import zlib
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._library import NegativeWeights, SeedNodes
from .errors import InvalidArgument, NotFound
from .tensors import Tensor


def ids(values: Any) -> Tuple[Any, int]:
    """An array of int64 that the library reads, and its length: of one integer, or of what holds
    integers in one dimension. 64-bit integers that may be written are shared, others copied."""
    numbers = _numbers(values)
    if isinstance(numbers, memoryview):
        if numbers.ndim > 1:
            raise InvalidArgument(f"ids have the shape {numbers.shape}: give one dimension")
        if numbers.nbytes > 0 and numbers.itemsize == 8 and numbers.c_contiguous \
                and numbers.format in ("q", "l"):
            kind = ctypes.c_int64 * (numbers.nbytes // 8)
            return (kind.from_buffer_copy(numbers) if numbers.readonly
                    else kind.from_buffer(numbers)), len(kind())
        listed = numbers.tolist()
        numbers = listed if isinstance(listed, list) else [listed]
    _check_integers(numbers)
    try:
        packed = array.array("q", numbers)
    except OverflowError as error:
        raise InvalidArgument("an id is beyond 64 bits") from error
    return (ctypes.c_int64 * len(packed))(*packed), len(packed)


def shards(values: Any) -> Tuple[Any, int]:
    """As ids(), of 32 bits."""
    numbers, count = ids(values)
    try:
        packed = array.array("i", numbers)
    except OverflowError as error:
        raise InvalidArgument(f"{list(numbers)} are no shards") from error
    return (ctypes.c_int32 * count)(*packed), count


def _numbers(values):
    """As a memoryview or a list."""
    if isinstance(values, (str, bytes, bytearray)):
        raise InvalidArgument(f"ids are {values!r}: give integers")
    if isinstance(values, Tensor):
        return values.memoryview()
    if hasattr(values, "detach"):  # PyTorch's have no buffer
        values = values.detach().cpu().numpy()
    try:
        return memoryview(values)
    except (TypeError, ValueError):
        pass
    if hasattr(values, "__index__"):
        return [values]
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _check_integers(numbers):
    """A mask would be taken for ids 0 and 1, and a float has lost digits."""
    if set(map(type, numbers)) <= {int}:
        return
    for number in numbers:
        if isinstance(number, bool):
            raise InvalidArgument("ids are booleans: of a mask, give the positions that are true")
        if not hasattr(number, "__index__"):
            raise InvalidArgument(f"{number!r} is no id: give integers")


def seed_lists(node_types: Any, seeds: Any, seed_times: Any = None) -> Any:
    """One type with its ids, or several with a list each, as an array that the library reads; with
    their times, a list for each list."""
    if isinstance(node_types, str):
        node_types, seeds = [node_types], [seeds]
        seed_times = None if seed_times is None else [seed_times]
    if len(node_types) != len(seeds):
        raise InvalidArgument(f"{len(node_types)} node types have {len(seeds)} lists of seeds")
    if seed_times is not None and len(seed_times) != len(seeds):
        raise InvalidArgument(f"{len(seeds)} lists of seeds have {len(seed_times)} of times")
    lists = (SeedNodes * len(node_types))()
    for i, (each, node_type, values) in enumerate(zip(lists, node_types, seeds)):
        numbers, each.num_ids = ids(values)
        each.ids = ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int64))
        each.node_type = name(node_type, "node_type")
        if seed_times is not None:
            each.times = times(seed_times[i], each.num_ids)
    return lists


def times(values: Any, num_seeds: int) -> Any:
    """As a pointer for the library, which keeps the memory."""
    numbers, count = ids(values)
    if count != num_seeds:
        raise InvalidArgument(f"{num_seeds} seeds have {count} times: give one for each")
    return ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int64))


def negative_weights(targets: Any, sources: Any) -> Optional[NegativeWeights]:
    """Numbers, one for each node of the targets' and of the sources' type, for the library; None of
    none."""
    if targets is None and sources is None:
        return None
    given = NegativeWeights()
    if targets is not None:
        given.targets, given.num_targets = _doubles("negative_weights", targets)
    if sources is not None:
        given.sources, given.num_sources = _doubles("negative_source_weights", sources)
    return given


def _doubles(what, values):
    """As a pointer, which keeps the memory, and how many there are."""
    if isinstance(values, Tensor):
        values = values.memoryview()
    elif hasattr(values, "detach"):  # PyTorch's
        values = values.detach().cpu().double().numpy()
    elif hasattr(values, "astype"):  # NumPy's
        values = values.astype("float64")
    try:
        numbers = memoryview(values)
    except TypeError:
        numbers = memoryview(array.array("d", _listed(what, values)))
    if numbers.ndim != 1 or len(numbers) == 0:
        raise InvalidArgument(f"{what} have the shape {numbers.shape}: give one number for each node")
    if numbers.format != "d" or not numbers.c_contiguous:
        numbers = memoryview(array.array("d", numbers.tolist()))
    packed = (ctypes.c_double * len(numbers)).from_buffer_copy(numbers)
    return ctypes.cast(packed, ctypes.POINTER(ctypes.c_double)), len(packed)


def _listed(what, values):
    try:
        return list(map(float, values))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{what} are no numbers, one for each node: {error}") from error


def weights_checksum(weights: NegativeWeights) -> int:
    """Of those of targets and of sources."""
    lists = (weights.targets, weights.num_targets), (weights.sources, weights.num_sources)
    return zlib.crc32(b"|".join(ctypes.string_at(values, 8 * count) if count else b""
                                for values, count in lists))


def name(value: Any, what: str) -> bytes:
    """A name for the library; `what` is for the error."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{what} is {value!r}: give its name, a str")
    return value.encode()


def position(value: Any, what: str, known: Sequence[str]) -> int:
    """Where a name is among those there are."""
    if value not in known:
        raise NotFound(f"there is no {what} {value!r}; there are: {', '.join(known)}")
    return known.index(value)


def _requests(option, kind, pairs):
    """Pairs of a type's name and a column's, as the library's objects."""
    requests = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise InvalidArgument(f"{option} is {pairs!r}: give pairs, as [({kind!r}, \"features\")]")
        requests.append({kind: pair[0], "column": pair[1]})
    return requests


def columns(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options with columns and edge_columns as the library takes them."""
    given = dict(options)
    for option, kind in (("columns", "node_type"), ("edge_columns", "edge_type")):
        if option in given:
            given[option] = _requests(option, kind, given[option])
    return given


def names(values: Any) -> Optional[Tuple[bytes, Any, int]]:
    """Of one str or a list of them their bytes in a row, an array of where each ends, and how many
    there are; None of what is no str."""
    listed = [values] if isinstance(values, str) else values
    if getattr(getattr(values, "dtype", None), "kind", None) in ("O", "U"):  # NumPy's, of names
        listed = values.tolist()
    if not isinstance(listed, (list, tuple)) or not listed or not isinstance(listed[0], str):
        return None
    for each in listed:
        if not isinstance(each, str):
            raise InvalidArgument(f"{each!r} is among names: give names alone")
    encoded = [each.encode("utf-8", "surrogateescape") for each in listed]
    ends = list(itertools.accumulate(map(len, encoded)))
    return b"".join(encoded), (ctypes.c_int64 * len(ends))(*ends), len(ends)


_ANY_TERM = -1


def versions(values: Any) -> List[Tuple[int, int]]:
    """Of a list, an array or a tensor."""
    try:
        listed = list(values.tolist() if hasattr(values, "tolist") else values)
    except TypeError as error:
        raise InvalidArgument(f"{values!r} are no versions: give one a shard") from error
    return [version(each) for each in listed]


def version(value: Any) -> Tuple[int, int]:
    """A version of a shard, with its term or whichever it has."""
    try:
        pair = tuple(value)
    except TypeError:
        pair = value, _ANY_TERM
    try:
        number, term = map(operator.index, pair)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{value!r} is no version: give a number, or it and its term") \
            from error
    if not (0 <= number < 1 << 63 and _ANY_TERM <= term < 1 << 63):
        raise InvalidArgument(f"{value!r} is no version: numbers are from 0 to 2^63 - 1")
    return number, term


def options_text(options: Mapping[str, Any]) -> bytes:
    """As JSON; paths, arrays and NumPy's numbers are fine."""
    return json.dumps(options, default=_plain).encode()


def _plain(value):
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__iter__"):
        return list(value)
    raise InvalidArgument(f"{value!r}, a {type(value).__name__}, is no value of an option")
