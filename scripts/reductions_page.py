# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/reductions.md: types and operations, from the tables of the source."""

import re
import sys

HEAD = """\
<!-- Made by scripts/gen_docs.py from src/base/types.{def,h}, src/kernels/reduce.h
     and src/interpose/mpi/predefined_types.def: do not edit. -->
# Reductions

Which operations Sumac has on which types, the bits of their results, and what is handed to the MPI.

## Operations on elements

*Vector*: the loop uses the processor's vectors; *plain*: it is left to the compiler. Both give the
same bits.

"""
RULES_HEAD = """
## The bits of a result

From `src/kernels/reduce.h`:

```text
"""
TYPES_HEAD = """```

All ranks get the same bits. Of a reduction over ranks, the left operand is that of the lower rank;
`MPI_Reduce_local` puts `inbuf` to the left.

Until a communicator [is set up](nonblocking.md#when-a-call-is-taken), which takes two calls or
more, the MPI's own function reduces. Its bits are those of Sumac's later calls where the order of
operands does not matter:

- Sums and products of integers, and `LAND` to `BXOR`, have the same bits. Exceptions are sums and
  products of 8 and 16 bits under Open MPI 4 and 5, which may [saturate](#beyond-the-standard).
- `MIN`, `MAX`, `MINLOC` and `MAXLOC` have the same, unless some rank has a NaN, or ranks have zeros
  of both signs: the MPI may then return another of the ranks' values.
- Sums and products of two ranks' floating-point numbers have the same, unless both are NaNs, or the
  numbers are complex or have two bytes.
- Those of three ranks and more may differ: the MPI folds in an order of its own, which may depend
  on the number of bytes, the placement and the root.
- Operations of the program's own have the same where they are associative and commutative.

The same holds for calls that are handed to the MPI later on. Sumac does not fold these calls itself
by default: all data of all ranks would have to be moved, by calls in which all ranks wait for all,
as a reduce must not; and over a hierarchy the order is not known before the ranks have met.
`SUMAC_REPRODUCIBLE=1` does so, and [gives the same bits](reproducible.md) from the first call on.

Gaps in memory (the four bytes behind the index of `MPI_DOUBLE_INT`) are not data: the gaps of a
receive buffer are not changed, whatever those of other ranks contain.

## MPI's types

These are the pairs that the standard allows. Sumac also serves pairs that the MPI accepts [beyond
the standard](#beyond-the-standard).
Sizes are the MPI's: where `MPI_INTEGER` has 8 bytes it is an int64.

| kind | types | operations |
|---|---|---|
"""
TAIL = """
Types marked * are not in every MPI; Sumac finds them by their names. The types of
`MPI_Type_create_f90_integer`, `_real` and `_complex` count as Fortran integers, floating point and
complex.

For some types, kind and size do not determine how the MPI treats an element: Fortran logicals, and
numbers of 2, 16 and 32 bytes that C lacks or has twice. When Sumac first meets such a type, it lets
the MPI's own `MPI_Reduce_local` reduce a few elements. A logical must be true for any value but
zero, with results of 0 and 1; numbers must add as in their format. A 16-byte real is a float128 in
MPICH 5, a long double in Open MPI 4, and neither in MPICH 4, to which Sumac hands its reductions.

## Beyond the standard

MPIs accept more than the standard requires: all reduce `MPI_CHAR`, Open MPI adds `MPI_BYTE`, MPICH
has logical operations on Fortran's integers. When Sumac first meets such a pair of type and
operation, it tests whether the MPI accepts the pair, on a communicator of this process alone, so
that no error handler of the program is called. It also tests the result, with elements that
distinguish signed from unsigned, truth values from numbers and one width from another. If Sumac has
an operation on integers with the same results, it serves the pair from then on. As with the
standard's integers, sums and products wrap, even where an MPI saturates some (Open MPI 4 and 5 do
so for integers of 8 and 16 bits, in the vectorised part of a buffer).

If ranks have MPIs of different versions, all calls on their communicator are handed to the MPI
(`SUMAC_STATS=1` counts them as `types_differ`). A process that begins with a session and not with
`MPI_Init` cannot make these tests, and hands to the MPI all pairs beyond the standard and all types
that it would have to test.

## Operations of the program's own

`MPI_Allreduce` and `MPI_Reduce` with an operation of `MPI_Op_create` are served on every type, of
any extent, with gaps and lower bounds, and in any language: the MPI calls the function, by its own
`MPI_Reduce_local`.

- The fold is `((r0 op r1) op r2) ...` in rank order, whether the operation commutes or not, and the
  same on all ranks.
- The function is called in the thread that called MPI, with the program's type handle, for as many
  elements as a chunk has. Of types of one byte it gets the whole vector, since programs send
  structures as `MPI_BYTE`. Both its arguments are copies, the first at a multiple of a cache line,
  which it may write.
- It may call what MPI lets it, and end the job. If it leaves by a C++ exception it is not called
  again in that reduction; the exception leaves the collective when that has ended on this
  rank. The result is then undefined, also on ranks without an exception; the communicator can still
  be used. Other ways out (`longjmp`, a cancelled thread) leave the communicator unusable.
- Active operations on the communicator are completed first, since only this thread may call the
  function.

## What is left to the MPI

These calls are handed to the MPI. `SUMAC_STATS=1` counts them as `user_op`, `user_op_levels`,
`user_vector` or `no_kernel`.

- Operations of `MPI_Op_create` in nonblocking and persistent calls and in `MPI_Reduce_local`; over
  a [hierarchy](hierarchy.md); on types of which one element is larger than a slot (32 KiB; 4 KiB
  where `/dev/shm` is small); and on vectors of bytes that are larger than a slot or, on more than
  8 ranks, than 256 KiB divided by their number. With a [hint](operations-api.md) Sumac serves many
  of them.
- Predefined operations on derived types, which are an error.
- Operations on types that neither the standard nor the MPI allows: the MPI returns its own error,
  if it has one. Also operations beyond the standard on elements other than integers, such as
  MPICH's logical operations on floating-point numbers.
- `MPI_REPLACE` and `MPI_NO_OP`, which are for one-sided communication. In reductions Open MPI 4 and
  5 and MPICH 4 and 5 call them an error, `MPI_ERR_OP`.
- Types that the MPI treats as an element that Sumac does not have.
"""
OPERATIONS = {
    "kArithmetic": "`SUM` `PROD` `MIN` `MAX`",
    "kLogical": "`LAND` `LOR` `LXOR`",
    "kBitwise": "`BAND` `BOR` `BXOR`",
    "kLocation": "`MINLOC` `MAXLOC`",
    "kNoOperation": "none",
}
COMPLEX = "`SUM` `PROD`"


def found(pattern, text, what):
    match = re.search(pattern, text, re.DOTALL)
    if not match:
        sys.exit(f"no {what} where the documentation is made from")
    return match[1]


def defined(types, ops):
    """Returns for each element kind the operations that is_defined() allows."""
    body = found(r"constexpr bool is_defined\(.*?\{(.*?)\n\}", types, "is_defined")
    allowed = {}
    for kind, text in re.findall(r"case ElementKind::(\w+):\s*return ([^;]+);", body):
        limit = re.fullmatch(r"op (<=?) Op::(\w+)", text)
        if limit:
            allowed[kind] = ops[: ops.index(limit[2]) + (limit[1] == "<=")]
        elif text == "location":
            allowed[kind] = ["minloc", "maxloc"]
        else:
            sys.exit(f"is_defined: cannot read '{text}'")
    return allowed


def elements_table(elements, types):
    ops = re.findall(r"\w+", found(r"enum class Op [^{]*\{(.*?)\}", types, "Op"))
    ops.remove("none")
    allowed = defined(types, ops)
    rows = re.findall(r'^SUMAC_ELEMENT\(\w+, "(\w+)", [^,]+, (\w+), (\w+),', elements, re.MULTILINE)
    lines = [f"| element | {' | '.join(ops)} |\n", "|---" * (len(ops) + 1) + "|\n"]
    for name, kind, kernels in rows:
        loop = "plain" if kernels == "wide" else "vector"
        cells = [loop if op in allowed[kind] else "" for op in ops]
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |\n")
    return "".join(lines)


def rules(header):
    text = found(r"\n(// Computes dst\[i\] = .*?)using ReduceFn", header, "rules")
    return "".join(line.removeprefix("//").removeprefix(" ") + "\n" for line in text.splitlines())


def kinds_table(rows):
    path = "src/interpose/mpi/predefined_types.def"
    types = {}
    for row in rows(path, "SUMAC_TYPE", "handle", "kind"):
        types.setdefault(row["kind"], []).append(f"`{row['handle']}`")
    for row in rows(path, "SUMAC_OPTIONAL_TYPE", "handle", "kind"):
        types.setdefault(row["kind"], []).append(f"`{row['handle']}`*")
    for row in rows(path, "SUMAC_TYPE_KIND", "kind", "operations", "text"):
        operations = " ".join(OPERATIONS[name.strip()] for name in row["operations"].split("|"))
        if "complex" in row["kind"]:
            operations = COMPLEX
        yield f"| {row['text']} | {' '.join(types[row['kind']])} | {operations} |\n"


def make(root, rows):
    elements = (root / "src/base/types.def").read_text(encoding="utf-8")
    types = (root / "src/base/types.h").read_text(encoding="utf-8")
    header = (root / "src/kernels/reduce.h").read_text(encoding="utf-8")
    parts = [HEAD, elements_table(elements, types), RULES_HEAD, rules(header), TYPES_HEAD]
    return "".join([*parts, *kinds_table(rows), TAIL])
