# SPDX-License-Identifier: BSD-3-Clause
"""The element types and operations, as the library names them (src/base/types.h)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Element:
    size: int  # bytes from one element to the next
    kind: str  # integer, floating, complex or pair


TYPES = {
    "int8": Element(1, "integer"),
    "uint8": Element(1, "integer"),
    "int16": Element(2, "integer"),
    "uint16": Element(2, "integer"),
    "int32": Element(4, "integer"),
    "uint32": Element(4, "integer"),
    "int64": Element(8, "integer"),
    "uint64": Element(8, "integer"),
    "int128": Element(16, "integer"),
    "float16": Element(2, "floating"),
    "bfloat16": Element(2, "floating"),
    "float": Element(4, "floating"),
    "double": Element(8, "floating"),
    "long_double": Element(16, "floating"),
    "float128": Element(16, "floating"),
    "float_complex": Element(8, "complex"),
    "double_complex": Element(16, "complex"),
    "long_double_complex": Element(32, "complex"),
    "float128_complex": Element(32, "complex"),
    "2int": Element(8, "pair"),
    "2int64": Element(16, "pair"),
    "float_int": Element(8, "pair"),
    "2real": Element(8, "pair"),
    "2double_precision": Element(16, "pair"),
    "short_int": Element(8, "pair"),
    "long_int": Element(16, "pair"),
    "double_int": Element(16, "pair"),
    "long_double_int": Element(32, "pair"),
}
ALIASES = {"int": "int32"}
_ORDERED = ("sum", "prod", "min", "max")
_LOCATIONS = ("minloc", "maxloc")
_OF_INTEGERS = (*_ORDERED, "land", "lor", "lxor", "band", "bor", "bxor")
OPS = (*_OF_INTEGERS, *_LOCATIONS)
_OPS_OF_KIND = {
    "integer": _OF_INTEGERS,
    "floating": _ORDERED,
    "complex": ("sum", "prod"),
    "pair": _LOCATIONS,
}


def of(name: str) -> Element:
    return TYPES[ALIASES.get(name, name)]


def is_defined(op: str, name: str) -> bool:
    """Whether MPI has this operation of this type."""
    return op in _OPS_OF_KIND[of(name).kind]
