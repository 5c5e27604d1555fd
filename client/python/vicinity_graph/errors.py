"""What calls of the library raise: one class a code of client/types/result.h."""

from typing import Any, Dict, List, Sequence, Type


class VicinityError(Exception):
    """An error of the library. `code` is its number, `name` what the number is called."""

    code = 2
    name = "UNKNOWN"

    #: Of a Writer's call that failed after it may have sent something: a Written, which tells what is
    #: known of the rows. Else None.
    written: Any = None

    def __reduce__(self) -> tuple:
        return type(self), self.args


class Cancelled(VicinityError):
    """Somebody gave the call up, most often because what it belongs to was closed."""

    code, name = 1, "CANCELLED"


class InvalidArgument(VicinityError, ValueError):
    """The call is wrong: never retry."""

    code, name = 3, "INVALID_ARGUMENT"


class DeadlineExceeded(VicinityError, TimeoutError):
    """No answer in time; the text names who was waited for."""

    code, name = 4, "DEADLINE_EXCEEDED"


class NotFound(VicinityError, LookupError):
    """No such node, column, shard, file."""

    code, name = 5, "NOT_FOUND"


class AlreadyExists(VicinityError):
    """What should be made is there."""

    code, name = 6, "ALREADY_EXISTS"


class PermissionDenied(VicinityError, PermissionError):
    """The server knows who asks, and that is not enough; the text says what would be."""

    code, name = 7, "PERMISSION_DENIED"


class ResourceExhausted(VicinityError):
    """Back off."""

    code, name = 8, "RESOURCE_EXHAUSTED"


class FailedPrecondition(VicinityError, RuntimeError):
    """Another dataset or protocol than expected; a forked child; no such device; closed."""

    code, name = 9, "FAILED_PRECONDITION"


class Aborted(VicinityError):
    """Damaged on the way: the same may be asked again at once."""

    code, name = 10, "ABORTED"


class OutOfRange(VicinityError):
    """A live graph's shard has not come to that version."""

    code, name = 11, "OUT_OF_RANGE"


class Internal(VicinityError):
    """A bug of the library's: please report its text."""

    code, name = 13, "INTERNAL"


class Unavailable(VicinityError, ConnectionError):
    """A server is away; the text names the shard."""

    code, name = 14, "UNAVAILABLE"


class DataLoss(VicinityError):
    """A file failed its checksum."""

    code, name = 15, "DATA_LOSS"


class Unauthenticated(VicinityError):
    """A certificate or token is missing or not good; the text says which."""

    code, name = 16, "UNAUTHENTICATED"


_ALL: List[Type[VicinityError]] = [VicinityError, *VicinityError.__subclasses__()]
BY_CODE: Dict[int, Type[VicinityError]] = {error.code: error for error in _ALL}


class RefusedRows(VicinityError):
    """Some nodes or edges of a write were refused; the others are written. `rows` tells which, in the
    order they were given: RefusedRow of kind, part, row and error. `code` and `name` are the first's.
    """

    def __init__(self, text: str, rows: Sequence[Any] = (), written: Any = None):
        super().__init__(text, list(rows))
        self.rows = list(rows)
        self.written = written
        if self.rows:
            self.code, self.name = self.rows[0].error.code, self.rows[0].error.name

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def ids(self) -> Any:
        """Of a write of one part of new nodes, or of new edges, the ids that they got, int64 [n], -1
        of those that were refused. Else, and behind pickle, None."""
        parts = self.written.node_ids + self.written.edge_ids if self.written is not None else []
        return parts[0] if len(parts) == 1 else None
