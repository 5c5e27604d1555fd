"""Rows of any number of values: lists, texts, sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Sequence

import numpy


@dataclass
class RaggedRows:
    """A ragged column of nodes: row i has values[offsets[i]] to before values[offsets[i + 1]]. Each
    array may be a File.

    offsets:     integers [count + 1], the first 0, the last how many values there are
    values:      [values]
    indices:     of a sparse matrix: of each value its column, integers [values], in any order, no two
                 of a row the same
    num_columns: how many it has
    """

    offsets: Any
    values: Any
    indices: Any = None
    num_columns: int = 0

    @classmethod
    def of_lists(cls, lists: Iterable[Any]) -> RaggedRows:
        """Of a list, an array or a tensor of one dimension for each node, all of one dtype."""
        arrays = [numpy.asarray(each) for each in lists]
        filled = [each for each in arrays if each.size] or [numpy.zeros(0, numpy.int64)]
        dtypes = {each.dtype for each in filled}
        if len(dtypes) > 1 or any(each.ndim != 1 for each in arrays):
            raise ValueError(f"lists are of {sorted(map(str, dtypes))} and have "
                             f"{sorted({each.ndim for each in arrays})} dimensions: give all one "
                             "dtype, and one dimension")
        return cls(_offsets([len(each) for each in arrays]), numpy.concatenate(filled))

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> RaggedRows:
        """Of a str for each node, stored as its bytes in UTF-8 (escapes of os.fsdecode undone)."""
        stored = [each.encode("utf-8", "surrogateescape") for each in texts]
        return cls(_offsets([len(each) for each in stored]),
                   numpy.frombuffer(b"".join(stored), numpy.uint8))

    @classmethod
    def of_sparse(cls, matrix: Any) -> RaggedRows:
        """Of a sparse matrix [count, num_columns] of SciPy's or PyTorch's, of any format. Entries that
        it holds twice are added up, as both packages have it."""
        if hasattr(matrix, "tocsr"):
            csr = matrix.tocsr(copy=True)
            csr.sum_duplicates()
            return cls(csr.indptr, csr.data, csr.indices, csr.shape[1])
        if matrix.dim() != 2:
            raise ValueError(f"a sparse tensor of {matrix.dim()} dimensions is no column: it needs 2")
        csr = matrix.detach().cpu()
        csr = csr.coalesce().to_sparse_csr() if csr.is_sparse else csr.to_sparse_csr()
        return cls(csr.crow_indices().numpy(), csr.values().numpy(), csr.col_indices().numpy(),
                   csr.shape[1])


def is_sparse(values: Any) -> bool:
    """Whether it is a sparse matrix of SciPy's or PyTorch's."""
    layout = str(getattr(values, "layout", ""))
    return "sparse" in layout or type(values).__module__.startswith("scipy.sparse")


def as_ragged(values: Any) -> Any:
    """RaggedRows of what is ragged; else None."""
    if isinstance(values, RaggedRows):
        return values
    return RaggedRows.of_sparse(values) if is_sparse(values) else None


def _offsets(lengths: Sequence[int]) -> Any:
    return numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(lengths, dtype=numpy.int64)])
