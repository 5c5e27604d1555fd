"""What a loader's seeds may be, from Python's lists and arrays to the library's."""

from __future__ import annotations

import copy
import ctypes
from typing import TYPE_CHECKING, Any, Dict, Optional

from . import _library
from .errors import NotFound
from .tensors import Tensor

if TYPE_CHECKING:
    from .graph import Graph

#: A split, all nodes (None), ids, names, a mask, GlobalIds, links, or a type with one of these:
#: the docstring of Loader has the list.
Seeds = Any

_INTEGERS = "bBhHiIlLqQnN"  # formats of memoryview


class _SaidIds:
    def __init__(self, ids: Any):
        self.ids = list(ids) if hasattr(ids, "__next__") else ids

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ids!r})"


class GlobalIds(_SaidIds):
    """Global ids, which Graph.nodes and Graph.resolve give. A loader's seeds are the user's ids unless
    it says this; calls of Graph take global ids anyway."""


class UserIds(_SaidIds):
    """The ids of the import, integers or strings, wherever ids of nodes are taken: calls of Graph look
    them up, and raise NotFound for those that the graph lacks; a loader's seeds are these anyway."""


class _OfSplit:
    """No seeds were given: the option `split` says which they are."""

    def __repr__(self) -> str:
        return "OF_SPLIT"

    def __reduce__(self) -> str:
        return "OF_SPLIT"


OF_SPLIT = _OfSplit()


def kept(values: Any) -> Any:
    """What a call takes that goes on later: a copy, since the caller may change his own by then."""
    if isinstance(values, _SaidIds):
        return type(values)(kept(values.ids))
    if isinstance(values, (Tensor, memoryview)):
        return values  # the library's is not to be written to; of a view no copy has its kind
    if hasattr(values, "clone"):  # PyTorch's
        return values.detach().clone()
    if isinstance(values, dict):
        return {name: kept(each) for name, each in values.items()}
    if isinstance(values, (list, tuple)) or hasattr(values, "__next__"):
        return [each if isinstance(each, (int, float, str)) else kept(each) for each in values]
    return copy.copy(values)


_NAMED_IN_ERRORS = 10


def to_global(graph: Graph, node_type: str, ids: Any) -> Any:
    """What a call of Graph takes as ids of one type, with those of UserIds looked up. NotFound naming
    those that are not there, and their positions."""
    if isinstance(ids, GlobalIds):
        return ids.ids
    if not isinstance(ids, UserIds):
        return ids
    found = graph.resolve(node_type, ids.ids)
    missing = [position for position, node in enumerate(found.memoryview()) if node < 0]
    if not missing:
        return found
    given = ids.ids.tolist() if hasattr(ids.ids, "tolist") else ids.ids
    listed = given if hasattr(given, "__len__") and not isinstance(given, str) else [given]
    named = ", ".join(f"{listed[position]!r} (position {position})"
                      for position in missing[:_NAMED_IN_ERRORS])
    raise NotFound(f"{len(missing)} of {len(found)} ids are no nodes of type {node_type}: {named}"
                   + (", ..." if len(missing) > _NAMED_IN_ERRORS else ""))


def lists_to_global(graph: Graph, node_types: Any, ids: Any) -> Any:
    """Likewise of one type, or of a list of types with as many lists."""
    if isinstance(node_types, str):
        return to_global(graph, node_types, ids)
    if isinstance(ids, _SaidIds):
        ids = [type(ids)(each) for each in ids.ids]
    return ids if len(ids) != len(node_types) else [to_global(graph, *each)
                                                    for each in zip(node_types, ids)]


def take(graph: Graph, seeds: Seeds, given: Dict[str, Any]) -> Optional[_library.Seeds]:
    """Has the options say which nodes are seeds; what they cannot say comes back."""
    if seeds is OF_SPLIT:
        return None
    if "split" in given:
        raise TypeError("split and seeds both say which nodes are seeds")
    seed_type, seeds = split_up(seeds)
    if seed_type in graph.edge_types:
        return links(seed_type, seeds)
    if seed_type is not None:
        if given.get("seed_type", seed_type) != seed_type:
            raise ValueError(f"seed_type is {given['seed_type']!r}, and seeds are of {seed_type!r}")
        given["seed_type"] = seed_type
    if not is_split(seeds):
        return structure(seeds)
    given["split"] = seeds or ""
    return None


def split_up(seeds):
    """Seeds of which a node type may be said: the type, None if it is not, and the rest."""
    if isinstance(seeds, dict):
        if len(seeds) != 1:
            raise ValueError(f"seeds are of one node type, not of {len(seeds)}: {list(seeds)}")
        seeds = next(iter(seeds.items()))
    if not isinstance(seeds, tuple):
        return None, seeds
    if len(seeds) != 2 or not isinstance(seeds[0], str):
        raise TypeError("seeds that are a tuple are (node type, its seeds); ids are a list")
    return seeds


def is_split(seeds):
    return seeds is None or isinstance(seeds, str)


def links(edge_type, ends):
    """(sources, targets), or an array [2, n], for the library, with the memory that it needs."""
    if isinstance(ends, _SaidIds):
        ends = [type(ends)(end) for end in ends.ids]
    if len(ends) != 2:
        raise TypeError(f"links are [sources, targets], not {len(ends)} lists")
    sources, targets = map(structure, ends)
    if (sources.kind, sources.count) != (targets.kind, targets.count):
        raise ValueError(f"links have {sources.count} sources and {targets.count} targets, which "
                         "are as many ids of the same kind")
    sources.edge_type = edge_type.encode()
    sources.targets = targets.values
    sources.memory = sources.memory, targets.memory
    return sources


def structure(seeds):
    """A list, an array or a mask for the library, with the memory that it needs."""
    if isinstance(seeds, _SaidIds):
        ids = seeds.ids.memoryview() if isinstance(seeds.ids, Tensor) else seeds.ids
        kind, values = _kind_and_values(ids)
        if kind == _library.SEEDS_MASK:
            raise TypeError(f"{type(seeds).__name__} are ids, and these are a mask")
        if isinstance(seeds, GlobalIds):
            if kind not in (_library.SEEDS_USER_IDS, None):
                raise TypeError("global ids are integers")
            kind = _library.SEEDS_GLOBAL_IDS
    elif isinstance(seeds, Tensor):
        raise TypeError("seeds that are a tensor of the library's: say GlobalIds(tensor) where it "
                        "holds global ids, as those of Graph.nodes and Graph.resolve do, and "
                        "UserIds(tensor) where it holds the user's")
    else:
        kind, values = _kind_and_values(seeds)
    info = _library.Seeds()
    info.kind = kind or _library.SEEDS_USER_IDS  # of an empty list the library says what is wrong
    info.count = len(values)
    info.values = ctypes.cast(values, ctypes.c_void_p)
    info.memory = values
    return info


def _kind_and_values(seeds):
    view = _view(seeds)
    if view is None:
        return _of_list(seeds.tolist() if hasattr(seeds, "tolist") else list(seeds))
    if view.ndim != 1:
        raise TypeError(f"seeds have one dimension, not {view.ndim}")
    if view.format == "?":
        return _library.SEEDS_MASK, (ctypes.c_uint8 * len(view)).from_buffer_copy(view.tobytes())
    if view.format in "lq" and view.itemsize == 8:
        return (_library.SEEDS_USER_IDS,
                (ctypes.c_int64 * len(view)).from_buffer_copy(view.tobytes()))
    return _of_list(view.tolist())


def _view(seeds):
    """A memoryview of booleans or integers; None of what has none."""
    if hasattr(seeds, "detach"):  # of PyTorch's
        seeds = seeds.detach().cpu().numpy()
    try:
        view = memoryview(seeds)
    except (TypeError, ValueError, BufferError):
        return None
    return view if view.format == "?" or view.format in _INTEGERS else None


def _of_list(values):
    if not values:
        return None, (ctypes.c_int64 * 0)()
    kinds = {type(value) for value in values}
    if kinds == {str}:
        return (_library.SEEDS_USER_NAMES,
                (ctypes.c_char_p * len(values))(*map(_name, range(len(values)), values)))
    if kinds == {bool}:
        return _library.SEEDS_MASK, (ctypes.c_uint8 * len(values))(*values)
    if bool in kinds:
        raise TypeError("seeds are a mask of booleans or ids, not both")
    return (_library.SEEDS_USER_IDS,
            (ctypes.c_int64 * len(values))(*map(_integer, range(len(values)), values)))


def _name(position, value):
    if "\0" in value:
        raise ValueError(f"seed {position}, {value!r}, has a NUL, which no id has")
    return value.encode()


def _integer(position, value):
    if not hasattr(value, "__index__"):
        raise TypeError(f"seed {position}, {value!r}, is a {type(value).__name__}: ids are all "
                        "integers or all strings, a mask is booleans")
    number = value.__index__()
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError(f"seed {position}, {value!r}, is no 64-bit integer")
    return number
