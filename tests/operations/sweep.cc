// SPDX-License-Identifier: BSD-3-Clause
// Every kind of operation on every element type for which it is defined, with and without threads,
// in every collective that takes an operation, at several lengths. With an argument n, only every
// n-th of these cases.
#include <algorithm>

#include "operations/elements.h"

namespace {

using namespace test;

constexpr std::size_t kCounts[] = {0, 1, 2, 37, 1023, 20011};

int operations_tried = 0;
std::size_t every = 1, turn = 0;

struct Case {
  const Element& element;
  const Kind& kind;
  MPI_Op op;
  std::size_t count;
  std::vector<unsigned char> input, expected;

  Case(const Element& e, const Kind& k, MPI_Op o, std::size_t n)
      : element(e), kind(k), op(o), count(n), input(input_of(e, n, rank)) {
    expected = input_of(e, n, 0);
    for (int r = 1; r < ranks; ++r) fold(e, k, expected, input_of(e, n, r));
  }
  int length() const { return static_cast<int>(count); }
};

void verify(const Case& c, const char* what, const Buffer& guarded, const void* result) {
  CHECK(equal(c.element, result, c.expected.data(), c.count), "%s of %s, %zu of %s, %s", what,
        name_of(c.kind.op), c.count, c.element.name, path());
  CHECK(guarded.guards_hold(), "%s of %s, %zu of %s", what, name_of(c.kind.op), c.count,
        c.element.name);
  if (!only_linked) CHECK_TAKEN();
}

void blocking(const Case& c) {
  Buffer out(c.input.size());
  MPI_Allreduce(c.input.data(), out.data(), c.length(), c.element.type, c.op, MPI_COMM_WORLD);
  verify(c, "allreduce", out, out.data());
  Buffer in_place(c.input.size(), 8);
  if (c.count) std::memcpy(in_place.data(), c.input.data(), c.input.size());
  MPI_Allreduce(MPI_IN_PLACE, in_place.data(), c.length(), c.element.type, c.op, MPI_COMM_WORLD);
  verify(c, "allreduce in place", in_place, in_place.data());
  const int root = ranks - 1;
  out.fill(0);
  MPI_Reduce(c.input.data(), out.data(), c.length(), c.element.type, c.op, root, MPI_COMM_WORLD);
  if (rank == root) verify(c, "reduce", out, out.data());
}

void nonblocking(const Case& c) {
  Buffer out(c.input.size());
  MPI_Request request;
  MPI_Iallreduce(c.input.data(), out.data(), c.length(), c.element.type, c.op, MPI_COMM_WORLD,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(equal(c.element, out.data(), c.expected.data(), c.count), "iallreduce of %s, %zu of %s",
        name_of(c.kind.op), c.count, c.element.name);
}

// Sumac does not serve MPI_Scan: the MPI calls the operation even where Sumac is in front.
void scan(const Case& c) {
  std::vector<unsigned char> expected = input_of(c.element, c.count, 0);
  for (int r = 1; r <= rank; ++r)
    fold(c.element, c.kind, expected, input_of(c.element, c.count, r));
  Buffer out(c.input.size());
  MPI_Scan(c.input.data(), out.data(), c.length(), c.element.type, c.op, MPI_COMM_WORLD);
  CHECK(equal(c.element, out.data(), expected.data(), c.count), "scan of %s, %zu of %s",
        name_of(c.kind.op), c.count, c.element.name);
  CHECK(out.guards_hold(), "scan of %s, %zu of %s", name_of(c.kind.op), c.count, c.element.name);
}

void local(const Case& c) {
  std::vector<unsigned char> expected = input_of(c.element, c.count, 5);
  fold(c.element, c.kind, expected, c.input);
  Buffer inout(c.input.size(), 1);
  if (c.count) std::memcpy(inout.data(), c.input.data(), c.input.size());
  const std::vector<unsigned char> in = input_of(c.element, c.count, 5);
  MPI_Reduce_local(in.data(), inout.data(), c.length(), c.element.type, c.op);
  CHECK(equal(c.element, inout.data(), expected.data(), c.count), "reduce_local of %s, %zu of %s",
        name_of(c.kind.op), c.count, c.element.name);
  CHECK(inout.guards_hold(), "reduce_local of %s, %zu of %s", name_of(c.kind.op), c.count,
        c.element.name);
}

// On numbers whose sum depends on the order of additions, Sumac's operation must give the bits of
// the predefined one, if Sumac serves both.
template <class T>
void same_bits(MPI_Datatype type, const Kind& kind, MPI_Op op) {
  std::vector<T> in(5003), with_ours(in.size()), with_predefined(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = value<T>(rank, i);
  const int count = static_cast<int>(in.size());
  MPI_Allreduce(in.data(), with_ours.data(), count, type, op, MPI_COMM_WORLD);
  MPI_Allreduce(in.data(), with_predefined.data(), count, type, kind.predefined, MPI_COMM_WORLD);
  CHECK(std::memcmp(with_ours.data(), with_predefined.data(), in.size() * sizeof(T)) == 0, "%s",
        name_of(kind.op));
}

void sweep(const Element& element, const Kind& kind, int flags) {
  MPI_Op op = MPI_OP_NULL;
  CHECK(sumac_op_create(kind.kind, flags, &op) == MPI_SUCCESS, "%s", name_of(kind.op));
  int commutes = 0;
  MPI_Op_commutative(op, &commutes);
  CHECK(commutes, "%s", name_of(kind.op));
  for (std::size_t count : kCounts) {
    if (turn++ % every != 0) continue;
    step("%s of %s, %zu elements, flags %d", name_of(kind.op), element.name, count, flags);
    const Case c(element, kind, op, count);
    blocking(c);
    nonblocking(c);
    local(c);
    if (count) scan(c);
  }
  if (!only_linked && element.type == MPI_FLOAT) same_bits<float>(MPI_FLOAT, kind, op);
  if (!only_linked && element.type == MPI_DOUBLE) same_bits<double>(MPI_DOUBLE, kind, op);
  CHECK(MPI_Op_free(&op) == MPI_SUCCESS && op == MPI_OP_NULL, "%s", name_of(kind.op));
  ++operations_tried;
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  if (argc > 1) every = static_cast<std::size_t>(std::atol(argv[1]));
  if (!only_linked) CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  for (const Element& element : elements()) {
    for (const Kind& kind : kinds()) {
      if (!has_kernel(kind.op, element.dtype)) continue;
      sweep(element, kind, 0);
      sweep(element, kind, SUMAC_OP_THREADED);
    }
  }
  CHECK(operations_tried >= 150, "%d", operations_tried);
  return finish();
}
