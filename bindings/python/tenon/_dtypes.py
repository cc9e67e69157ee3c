"""Element types."""

from __future__ import annotations

from . import _native

__all__ = ["DType"]

_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}


class DType:
    """An element type. There is one object for each type, such as `tenon.float32`, which
    `DType("float32")`, `DType(float)` and `DType(numpy.float32)` return."""

    __slots__ = ("name", "code", "itemsize", "kind", "__weakref__")
    _by_name: dict = {}

    def __new__(cls, value):
        if isinstance(value, DType):
            return value
        found = cls._by_name.get(value) if isinstance(value, (str, type)) else None
        return found or cls._from_numpy(value)

    @classmethod
    def _from_numpy(cls, value):
        import numpy

        try:
            name = numpy.dtype(value).name
        except TypeError:
            name = None
        if name in cls._by_name:
            return cls._by_name[name]
        raise TypeError(f"{value!r} is not a dtype; the dtypes are {', '.join(_NAMES)}")

    @classmethod
    def _make(cls, name, code, bits, kind):
        self = object.__new__(cls)
        self.name = name
        self.code = code | bits << 8 | 1 << 16
        self.itemsize = (bits + 7) // 8
        self.kind = kind
        cls._by_name[name] = self
        return self

    @property
    def is_floating(self) -> bool:
        """Whether the dtype is float16, bfloat16, float32 or float64."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether the dtype is a signed or unsigned integer type."""
        return self.kind in ("int", "uint")

    @property
    def is_storage(self) -> bool:
        """Whether tensors can hold, move and convert elements of the dtype, but ops do not compute
        with them: int4, uint4, int2, uint2, and floats of 8 or 4 bits."""
        return self.kind == "storage"

    @property
    def needs_ml_dtypes(self) -> bool:
        """Whether NumPy has the dtype only with the package ml_dtypes."""
        return self.is_storage or self.name == "bfloat16"

    def to_numpy(self):
        """Returns the corresponding NumPy dtype. bfloat16 and storage dtypes need the package
        ml_dtypes."""
        import numpy

        if self.needs_ml_dtypes:
            import ml_dtypes

            return numpy.dtype(getattr(ml_dtypes, self.name))
        return numpy.dtype(self.name)

    def __repr__(self):
        return f"tn.{self.name}"

    def __str__(self):
        return self.name

    def __reduce__(self):
        return DType, (self.name,)


bool_ = DType._make("bool", 6, 8, "bool")
int8, int16, int32, int64 = (DType._make(f"int{n}", 0, n, "int") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DType._make(f"uint{n}", 1, n, "uint") for n in (8, 16, 32, 64))
float16, float32, float64 = (DType._make(f"float{n}", 2, n, "float") for n in (16, 32, 64))
bfloat16 = DType._make("bfloat16", 4, 16, "float")
int4, int2 = (DType._make(f"int{n}", 0, n, "storage") for n in (4, 2))
uint4, uint2 = (DType._make(f"uint{n}", 1, n, "storage") for n in (4, 2))
float8_e4m3fn = DType._make("float8_e4m3fn", 10, 8, "storage")
float8_e4m3fnuz = DType._make("float8_e4m3fnuz", 11, 8, "storage")
float8_e5m2 = DType._make("float8_e5m2", 12, 8, "storage")
float8_e5m2fnuz = DType._make("float8_e5m2fnuz", 13, 8, "storage")
float8_e8m0fnu = DType._make("float8_e8m0fnu", 14, 8, "storage")
float4_e2m1fn = DType._make("float4_e2m1fn", 17, 4, "storage")
float128 = DType._make("float128", 2, 128, "float128")
_NAMES = list(DType._by_name)
_SHORT = {"i": "int", "u": "uint", "f": "float", "bf": "bfloat"}
for _name, _dtype in list(DType._by_name.items()):
    for _short, _long in _SHORT.items():
        if _name.startswith(_long) and _name[len(_long):][:1].isdigit():
            DType._by_name[_short + _name[len(_long):].replace("_", "")] = _dtype
DType._by_name.update({bool: bool_, int: int32, float: float32})
_native.set_dtypes(DType, {DType._by_name[name].code: DType._by_name[name] for name in _NAMES})
