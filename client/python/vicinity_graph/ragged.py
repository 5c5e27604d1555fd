"""Rows of ragged columns: any number of values each."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from .tensors import Tensor


class Ragged:
    """Rows of one ragged column, in the order asked for: lists, texts, or rows of a sparse matrix.

        words = graph.fetch_ragged("paper", "words", [3, 1, 4])
        words.scipy()                     # csr_matrix [3, num_columns]
        words.torch()                     # the same as a torch.sparse_csr_tensor

    Row i has values[offsets[i]] to before values[offsets[i + 1]], which begins with 0 and counts
    values; row_ends is offsets without its first.

    Lifetime: as Tensor's; nothing is copied but where a method says so.
    """

    __slots__ = ("row_ends", "values", "indices", "num_columns")

    def __init__(self, row_ends: Tensor, values: Tensor, indices: Optional[Tensor],
                 num_columns: int):
        #: int64 [n], counted in values.
        self.row_ends = row_ends
        #: [num values], of the column's dtype.
        self.values = values
        #: Of a sparse matrix, of each value its column, rising in a row: int32 [num values]. Of lists
        #: None.
        self.indices = indices
        #: Of the sparse matrix; of lists 0.
        self.num_columns = num_columns

    def __len__(self) -> int:
        return len(self.row_ends)

    def __repr__(self) -> str:
        kind = f"of {self.num_columns} columns" if self.indices is not None else "of lists"
        return f"<Ragged {self.values.dtype} {kind}: {len(self)} rows, {len(self.values)} values>"

    @property
    def shape(self) -> Tuple[int, int]:
        """Of a sparse matrix."""
        self._sparse("a shape")
        return len(self), self.num_columns

    def _sparse(self, wanted: str) -> Tensor:
        if self.indices is None:
            raise TypeError(f"the column is of lists, which have no {wanted.split()[-1]}: see values "
                            "and row_ends, or tolist()")
        return self.indices

    def offsets(self) -> Any:
        """A numpy.ndarray of its own, int64 [n + 1]: SciPy's indptr."""
        import numpy  # pylint: disable=import-outside-toplevel

        return numpy.concatenate([numpy.zeros(1, numpy.int64), self.row_ends.numpy()])

    def torch(self) -> Any:
        """Of a sparse matrix a torch.sparse_csr_tensor [n, num_columns], of lists a
        torch.nested_tensor of n tensors [length]; with a copy of indices, or of values."""
        import torch  # pylint: disable=import-outside-toplevel

        offsets, values = torch.from_numpy(self.offsets()), self.values.torch()
        if self.indices is None:
            lengths = offsets.diff().tolist()
            return torch.nested.nested_tensor(list(values.split(lengths)))
        return torch.sparse_csr_tensor(offsets, self.indices.torch().to(torch.int64), values,
                                       size=(len(self), self.num_columns))

    def scipy(self) -> Any:
        """Of a sparse matrix a scipy.sparse.csr_matrix that shares values and indices."""
        import scipy.sparse  # pylint: disable=import-outside-toplevel

        indices = self._sparse("columns").numpy()
        return scipy.sparse.csr_matrix((self.values.numpy(), indices, self.offsets()),
                                       shape=self.shape)

    def tolist(self) -> List[list]:
        """The values of each row; of a sparse matrix pairs of index and value."""
        values, stops = self.values.tolist(), [0, *self.row_ends.tolist()]
        if self.indices is not None:
            values = list(zip(self.indices.tolist(), values))
        return [values[begin:end] for begin, end in zip(stops, stops[1:])]

    def texts(self) -> List[str]:
        """Of lists of uint8, which texts are stored as: bytes that are no UTF-8 are escaped as
        os.fsdecode does."""
        if self.values.dtype != "uint8" or self.indices is not None:
            raise TypeError(f"{self!r} are no texts, which are lists of uint8")
        joined, stops = self.values.memoryview().tobytes(), [0, *self.row_ends.tolist()]
        return [joined[begin:end].decode("utf-8", "surrogateescape")
                for begin, end in zip(stops, stops[1:])]
