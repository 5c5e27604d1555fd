"""What is a label, a split, a target or a column, the same for all sources; and what is
PyTorch's."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pickle import UnpicklingError
from typing import Any, Collection, Iterator, List, Mapping, Optional

import numpy

from .ragged_rows import RaggedRows, is_sparse
from .writer import BFLOAT16, Edges, File, Nodes

MASKS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}
_SPLITS = {"train": "train", "valid": "validation", "val": "validation",
           "validation": "validation", "test": "test", "test-whole": "test"}
# Of MAG240M, which are shares of its test-whole.
_SHARES_OF_TEST = {"test-dev", "test-challenge"}


def add_node_array(nodes: Nodes, key: str, array: Any, label: str, split: int = 0) -> None:
    """A mask, the labels, the target, or just a column, by its name."""
    if isinstance(array, RaggedRows):
        nodes.columns[key] = array
    elif key in MASKS:
        nodes.masks[MASKS[key]] = array[:, split] if array.ndim == 2 else array
    elif key == label and array.dtype.kind in "iu" and array.size == len(array):
        nodes.labels, nodes.label_name = array.reshape(-1), key
    else:
        nodes.columns[key] = array
        nodes.target = key if key == label else nodes.target


def add_node_file(nodes: Nodes, key: str, file: Any, is_class: bool, label: str) -> None:
    """The same of a File, or of an array that was one."""
    if key in MASKS:
        nodes.masks[MASKS[key]] = file
    elif key == label and is_class:
        nodes.labels, nodes.label_name = file, key
    else:
        nodes.columns[key] = file
        nodes.target = key if key == label else nodes.target


def add_splits(made: Mapping[str, Nodes], split_idx: Optional[Mapping[str, Any]]) -> None:
    """Ids of "train", "valid", "test", perhaps by node type."""
    split_idx = dict(split_idx or {})
    if "test-whole" in split_idx:
        split_idx = {name: ids for name, ids in split_idx.items() if name not in _SHARES_OF_TEST}
    for name, ids in split_idx.items():
        by_type = ids if isinstance(ids, Mapping) else {_only(made): ids}
        for node_type, of_type in by_type.items():
            if node_type not in made:
                raise ValueError(f"split_idx[{name!r}] names the node type {node_type!r}; there "
                                 f"are {list(made)}")
            made[node_type].splits[split_named(name)] = _ids(of_type)


def set_weight(edges: Mapping[Any, Edges], weight: str) -> None:
    """Of the types that have such a column; ValueError if none has."""
    for each in edges.values():
        each.weight = weight if weight in each.columns else ""
    if weight and not any(each.weight for each in edges.values()):
        columns = sorted({key for each in edges.values() for key in each.columns})
        raise ValueError(f"the weight is to be {weight!r}, and edges have {columns}")


def split_named(name: str) -> str:
    """As a description calls it; ValueError for another."""
    if name not in _SPLITS:
        raise ValueError(f"split_idx names {name!r}: there are train, valid and test")
    return _SPLITS[name]


def refuse_what_is_left(left: Collection[str], skip: Collection[str], what: str) -> None:
    """ValueError that names what would be lost."""
    names: List[str] = sorted(set(left) - set(skip))
    if names:
        raise ValueError(f"{names} {what}: leave them out by skip={names}")


def of_tensor(where: str, value: Any) -> Any:
    """The numbers of a tensor, wherever it is, of a sparse one as RaggedRows; ValueError if it has
    none that can be a column."""
    if not hasattr(value, "detach"):
        raise ValueError(f"{where} is a {type(value).__name__}, no tensor: leave it out by skip=")
    if is_sparse(value):
        return RaggedRows.of_sparse(value)
    value = value.detach().cpu()
    if str(value.dtype) == "torch.bfloat16":
        return value.contiguous().view(sys.modules["torch"].int16).numpy().view(BFLOAT16)
    return value.numpy()


def load_torch(path: Any, trust_pickle: bool, instead: str) -> Any:
    """What torch.load gives of a .pt file, which is a pickle: a program. Unless `trust_pickle`,
    nothing of it runs but what makes tensors, arrays of NumPy's (if torch is 2.5 or newer) and
    plain values.

    Errors: ValueError for a file that holds more, with what to do about it: trust it, or `instead`.
    """
    path = os.fspath(path)
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise ValueError(f"{path} can be read by PyTorch only: pip install torch") from error
    with open(path, "rb"):
        pass  # a file that is not there is an OSError of its own
    try:
        if trust_pickle:
            return torch.load(path, map_location="cpu", **_untrusting(torch, False))
        with _arrays_allowed(torch):
            return torch.load(path, map_location="cpu", **_untrusting(torch, True))
    except UnpicklingError as error:
        if trust_pickle:
            raise ValueError(f"{path} is damaged, or no file of torch.save: {error}") from error
        reason = str(error).rpartition("Unpickler error: ")[2].splitlines()[0].partition(". ")[0]
        raise ValueError(
            f"{path} holds more than tensors and plain values ({reason}), and to read that runs "
            f"whatever the file says. If you trust whom it is from: trust_pickle=True. Else "
            f"{instead}") from error
    except RuntimeError as error:
        raise ValueError(f"{path} is damaged, or no file of torch.save: {error}") from error


def _untrusting(torch: Any, wanted: bool) -> dict:
    """Nothing where torch is older than the option, unless that would be to trust the file."""
    version = tuple(int(part) for part in str(torch.__version__).split(".")[:2])
    if version >= (1, 13):
        return {"weights_only": wanted}
    if wanted:
        raise UnpicklingError(f"torch {torch.__version__} cannot read it any other way")
    return {}


@contextlib.contextmanager
def _arrays_allowed(torch: Any) -> Iterator[None]:
    """OGB's splits are arrays of NumPy's; newer torch can be told that these are harmless."""
    safe_globals = getattr(torch.serialization, "safe_globals", None)
    if safe_globals is None:
        yield
        return
    core = getattr(numpy, "_core", None) or numpy.core
    kinds = {type(numpy.dtype(each)) for each in "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split()}
    rebuild = core.multiarray._reconstruct  # pylint: disable=protected-access
    scalar = core.multiarray.scalar
    # Under the names of both NumPy 1 and 2, whichever wrote the file.
    named = [(each, f"{module}.multiarray.{each.__name__}") for each in (rebuild, scalar)
             for module in ("numpy.core", "numpy._core")]
    with safe_globals([*named, numpy.ndarray, numpy.dtype, *kinds]):
        yield


def _only(names: Collection[str]) -> str:
    if len(names) != 1:
        raise ValueError(f"split_idx of several node types is by type: {list(names)}")
    return next(iter(names))


def _ids(given: Any) -> Any:
    """An array, on the host, or a File; of strings a list."""
    if isinstance(given, File):
        return given
    if hasattr(given, "detach"):
        return of_tensor("split_idx", given)
    return given
