"""Tensors of the library for torch.from_dlpack, numpy.from_dlpack and the like: no copy is made."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, Optional, Tuple

from ._library import Handle, call_for_pointer, check, lib

CPU, CUDA = 1, 2  # DLDeviceType


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


# Of memoryview and the struct module, by DLPack's type code and bits; float16 is "e", bfloat16 has
# none.
_FORMATS: Dict[Tuple[int, int], Any] = {
    (0, 8): "b", (0, 16): "h", (0, 32): "i", (0, 64): "q", (1, 8): "B", (2, 16): "e",
    (2, 32): "f", (2, 64): "d"}

_DTYPES = {(0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8",
           (2, 16): "float16", (2, 32): "float32", (2, 64): "float64", (4, 16): "bfloat16"}

_NAME = b"dltensor"
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                 ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
# The capsule is on its way out when these see it: only as an address may it be passed.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _free_unconsumed(capsule):
    # A consumer has renamed it "used_dltensor", and calls the deleter itself.
    if _is_valid(capsule, _NAME):
        lib.vicinity_tensor_free(_get_pointer(capsule, _NAME))


# Capsules may outlive this module, at the interpreter's end: these two stay for ever.
for _kept in (_NAME, _free_unconsumed):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))


class Tensor:
    """An array of the library's that others take by DLPack, as often as they like.

    torch.from_dlpack(tensor), numpy.asarray(tensor) and the like share its memory, as do torch(),
    numpy() and memoryview(). It is the library's own: copy it before writing to it.

    Lifetime: the memory lives until the last who shares it and this object are gone, whatever
    became of batch, loader and graph.
    Errors:   a tensor in device memory is handed over once: its first consumer owns it, and others
              get FailedPrecondition. Host memory alone has numpy(), memoryview() and tolist(), on
              a device they raise BufferError.
    """

    __slots__ = ("_make", "_device", "_layout")

    def __init__(self, make: Callable[[int], int], device: Tuple[int, int] = (CPU, 0),
                 layout: Optional[Callable[[], Tuple[str, Tuple[int, ...]]]] = None):
        self._make = make  # of a stream, the address of a DLManagedTensor
        self._device = device
        self._layout = layout  # gives dtype and shape; None: nobody asked yet

    def _dtype_and_shape(self):
        if self._layout is None:
            owner = Handle(self._make(-1), lib.vicinity_tensor_free)
            tensor = _DLTensor.from_address(owner.address)  # a DLManagedTensor begins with it
            layout = _DTYPES[tensor.code, tensor.bits], tuple(tensor.shape[:tensor.ndim])
            self._layout = lambda: layout
        return self._layout()

    @property
    def dtype(self) -> str:
        """"float32", "int64", "bfloat16", ...; columns of type bool are "uint8"."""
        return self._dtype_and_shape()[0]

    @property
    def shape(self) -> Tuple[int, ...]:
        """The first length is that of rows, nodes or edges."""
        return self._dtype_and_shape()[1]

    @property
    def device(self) -> str:
        """"cpu", "cuda:0", ...: as PyTorch calls it."""
        return "cpu" if self._device[0] == CPU else f"cuda:{self._device[1]}"

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<Tensor {self.dtype} {list(self.shape)} on {self.device}>"

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a tensor of {self.dtype} is no {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, *, stream: Optional[int] = None,
                   max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        # An older capsule than max_version allows is always allowed.
        if copy:
            raise BufferError("a Vicinity tensor is handed over as it is: copy it afterwards")
        if dl_device is not None and tuple(dl_device) != self._device:
            raise BufferError(f"the tensor is on device {self._device}, not on {dl_device}")
        managed = self._make(1 if stream is None else int(stream))
        return _new_capsule(managed, _NAME, ctypes.cast(_free_unconsumed, ctypes.c_void_p))

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._device

    def torch(self) -> Any:
        """As a torch.Tensor that shares the memory."""
        import torch  # pylint: disable=import-outside-toplevel

        return torch.from_dlpack(self)

    def numpy(self) -> Any:
        """As a numpy.ndarray that shares the memory; host memory only."""
        import numpy  # pylint: disable=import-outside-toplevel

        return numpy.from_dlpack(self)

    def memoryview(self) -> memoryview:
        """As a memoryview of its shape that shares the memory, with nothing but Python: of host
        memory, and of types that struct knows, bfloat16 being none."""
        if self._device[0] != CPU:
            raise BufferError(f"the tensor is on {self.device}: take it by torch()")
        owner = Handle(self._make(-1), lib.vicinity_tensor_free)
        tensor = _DLTensor.from_address(owner.address)  # a DLManagedTensor begins with it
        shape = list(tensor.shape[:tensor.ndim])
        form = _FORMATS.get((tensor.code, tensor.bits))
        if form is None:
            raise BufferError("Python has no bfloat16: take it by torch()")
        count = 1
        for length in shape:
            count *= length
        if count == 0:
            return memoryview(b"").cast(form)
        array = (ctypes.c_char * (count * tensor.bits // 8)).from_address(tensor.data)
        array.owner = owner  # the view keeps the array, and the array the memory
        return memoryview(array).cast("B").cast(form, shape)

    def tolist(self) -> list:
        """As nested lists of Python's numbers."""
        return self.memoryview().tolist()


_DATA_ON_HOST = (CPU, 3)  # or pinned there


def of_dlpack(values: Any) -> Tuple[str, Tuple[int, ...], Any, int]:
    """Somebody's array of host memory, without a copy: dtype, shape, what ctypes passes as its address,
    which keeps it, and its bytes. BufferError of another, or one with gaps."""
    if values.__dlpack_device__()[0] not in _DATA_ON_HOST:
        raise BufferError("the array is on a device: bring it to the host first")
    capsule = values.__dlpack__()
    tensor = _DLTensor.from_address(_pointer_of(capsule, _NAME))  # a DLManagedTensor begins with it
    shape = tuple(tensor.shape[:tensor.ndim])
    kind = tensor.code, tensor.bits
    dtype = _DTYPES.get(kind, f"of DLPack's type code {kind[0]} with {kind[1]} bits")
    if 0 in shape:
        return dtype, shape, b"", 0
    count = 1
    for axis in reversed(range(tensor.ndim)):
        if tensor.strides and shape[axis] > 1 and tensor.strides[axis] != count:
            raise BufferError("the array is not contiguous: copy it first")
        count *= shape[axis]
    num_bytes = count * tensor.bits * tensor.lanes // 8
    data = (ctypes.c_char * num_bytes).from_address(tensor.data + tensor.byte_offset)
    data.owner = capsule
    return dtype, shape, data, num_bytes


def of_call(function: Any, *arguments: Any) -> Tensor:
    """The tensor that a call gives."""
    return _owned(call_for_pointer(function, *arguments))


def pair_of_call(function: Any, *arguments: Any) -> Tuple[Tensor, Tensor]:
    """The two tensors that a call gives."""
    first, second = several_of_call(2, function, *arguments)
    return first, second


def several_of_call(number: int, function: Any, *arguments: Any) -> Tuple[Tensor, ...]:
    """The tensors that a call gives; one that it leaves out must not be looked at."""
    given = [ctypes.c_void_p() for _ in range(number)]
    check(function(*arguments, *(ctypes.byref(each) for each in given)))
    return tuple(_owned(each.value) for each in given)


def _owned(pointer: Any) -> Tensor:
    owner = Handle(pointer, lib.vicinity_tensor_free)
    return Tensor(lambda stream: call_for_pointer(lib.vicinity_tensor_share, owner))
