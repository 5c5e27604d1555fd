"""Files that a source already has: read in place where the tool can, else copied piece by piece."""

from __future__ import annotations

import csv
import gzip
import os
import pathlib
import zipfile
from typing import Any, List, Sequence, Tuple, Union

import numpy

from .writer import File, Writer

_SEPARATORS = {",": ".csv", "\t": ".tsv", " ": ".txt"}


class Npy:
    """What the header of an .npy file says, or that of a member of an .npz archive."""

    def __init__(self, path: Any, member: str = ""):
        self.path = pathlib.Path(path)
        self.member = member
        with open(self.path, "rb") as file:
            if not member:
                self._read_header(file)
                return
            with zipfile.ZipFile(file) as archive, archive.open(member + ".npy") as packed:
                self._read_header(packed)

    def __str__(self) -> str:
        return f"{self.path}:{self.member}" if self.member else str(self.path)

    def _read_header(self, file: Any) -> None:
        try:
            version = numpy.lib.format.read_magic(file)
            read = (numpy.lib.format.read_array_header_1_0 if version == (1, 0)
                    else numpy.lib.format.read_array_header_2_0)
            self.shape, self._fortran, self.dtype = read(file)
        except ValueError as error:
            raise ValueError(f"{self}: {error}") from error
        if self.dtype.hasobject:
            raise ValueError(f"{self} holds Python objects, which take a pickle to read: save it "
                             "with a number type")
        if not self.shape:
            raise ValueError(f"{self} is one value, and no rows")

    def is_class(self) -> bool:
        """Whether rows are one value each that can be a class: NaN is none of them."""
        return self.values_per_row() == 1 and self.dtype.kind in "iuf"

    def values_per_row(self) -> int:
        return int(numpy.prod(self.shape[1:], dtype=numpy.int64))

    def check_rows(self, count: int, whose: str, axis: int = 0) -> None:
        """ValueError for another number of rows."""
        if len(self.shape) <= axis or self.shape[axis] != count:
            raise ValueError(f"{self} is {list(self.shape)}, and there are {count} {whose}")

    def taken(self, transposed: bool = False) -> Union[File, numpy.ndarray]:
        """In place; or, where the tool does not read it so (another order of bytes or dimensions),
        the array: mapped, but a member of an archive in memory."""
        plain = self.dtype.byteorder != ">" and not (self._fortran and len(self.shape) > 1)
        if plain:
            return File(self.path, self.member, transposed=transposed)
        return self.array()

    def array(self) -> numpy.ndarray:
        """Mapped, but a member of an archive in memory."""
        if not self.member:
            return numpy.load(self.path, mmap_mode="r", allow_pickle=False)
        with numpy.load(self.path, allow_pickle=False) as archive:
            return archive[self.member]


def members_of(path: Any) -> List[str]:
    """Names of the arrays in an .npz archive."""
    with zipfile.ZipFile(path) as archive:
        return [name[:-4] if name.endswith(".npy") else name for name in archive.namelist()]


def open_text(path: Any) -> Any:
    """Bytes, decompressed if the name ends in .gz."""
    return gzip.open(path, "rb") if str(path).endswith(".gz") else open(path, "rb")


def csv_rows(path: Any) -> List[List[str]]:
    """All of a small file, perhaps compressed."""
    with open_text(path) as file:
        text = file.read().decode("utf-8")
    return [row for row in csv.reader(text.splitlines()) if row]


def fields_per_row(path: Any) -> int:
    """Of the first row; 0: there is none."""
    with open_text(path) as file:
        for line in file:
            if line.strip():
                return len(next(csv.reader([line.decode("utf-8")])))
    return 0


def joined_npy(writer: Writer, name: str, parts: Sequence[Npy]) -> Union[File, numpy.ndarray]:
    """One array of several files, row after row, through 4 MiB of memory; of one file that file."""
    if len(parts) == 1:
        return parts[0].taken()
    with writer.rows(name, parts[0].dtype, parts[0].shape[1:]) as rows:
        for part in parts:
            try:
                rows.append(part.array())
            except ValueError as error:
                raise ValueError(f"{part}: {error}") from error
    return rows.file()


def joined_text(writer: Writer, name: str, paths: Sequence[Any], separator: str,
                counts: Sequence[int]) -> File:
    """One text of several files, line after line; of one file whose name fits that file. Each has
    as many rows as `counts` says, below 0: any number."""
    if separator not in _SEPARATORS:
        raise ValueError(f"{paths[0]}: fields are separated by {separator!r}, and the tool knows "
                         "commas, tabs and blanks: replace it, as `sed -i 's/;/,/g'` does")
    ending = _SEPARATORS[separator]
    in_place = len(paths) == 1 and str(paths[0]).endswith((ending, ending + ".gz"))
    if in_place and counts[0] < 0:
        return File(paths[0])
    target = os.devnull if in_place else writer.folder / (name + ending)
    with open(target, "wb" if in_place else "xb") as out:
        for path, count in zip(paths, counts):
            _copy_lines(path, count, out)
    return File(paths[0] if in_place else target)


def _copy_lines(path: Any, count: int, out: Any) -> None:
    """All, with an end of line behind the last; ValueError if there are not `count` rows."""
    rows = 0
    with open_text(path) as file:
        for line in file:
            if line.strip():
                rows += 1
                out.write(line if line.endswith(b"\n") else line + b"\n")
    if 0 <= count != rows:
        raise ValueError(f"{path} has {rows} rows, and its description says {count}")


def shape_and_type(array: Union[File, numpy.ndarray]) -> Tuple[Any, Any]:
    """Of an .npy file or an array."""
    known = Npy(array.path, array.member) if isinstance(array, File) else array
    return known.shape, known.dtype
