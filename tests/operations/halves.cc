// SPDX-License-Identifier: BSD-3-Clause
// 16-bit floating-point numbers for which the MPI has no type, as programs send them: a type of two
// bytes, and an operation whose function computes in float. The bits must be the same with and
// without hints, and with Sumac's own operations.
#include <cmath>

#include "kernels/reduce.h"
#include "mpi/cases.h"
#include "sumac/sumac.h"
#include "testing/element.h"

namespace {

using namespace test;
using sumac::DType;
using sumac::Op;

using Bits = std::uint16_t;

// The formats, whose conversions round to nearest, ties to even.
struct Float16 : sumac::oracle::Element<sumac::Float16> {
  static constexpr int kElement = SUMAC_FLOAT16;
  static constexpr DType kType = DType::f16;
};
struct Bfloat16 : sumac::oracle::Element<sumac::BFloat16> {
  static constexpr int kElement = SUMAC_BFLOAT16;
  static constexpr DType kType = DType::bf16;
};

template <class Format, Op op>
Bits combine(Bits a, Bits b) {
  return Format::apply(op, {a}, {b}).bits;
}

long calls = 0;

template <class Format, Op op>
void user_function(void* in, void* inout, int* count, MPI_Datatype*) {
  ++calls;
  auto* left = static_cast<Bits*>(in);
  auto* right = static_cast<Bits*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = combine<Format, op>(left[i], right[i]);
}

// Numbers of many magnitudes. With more than two ranks the order of additions is up to the MPI, so
// small whole numbers are used.
template <class Format>
Bits element(int r, std::size_t i) {
  const std::uint64_t bits = mix(i * 8 + static_cast<std::uint64_t>(r));
  if (ranks > 2) return Format::whole(1 + static_cast<int>(bits % 3), 0).bits;
  const float fraction = 1 + static_cast<float>(bits & 0xffff) / 65536;
  const float x = std::ldexp(fraction, static_cast<int>(bits >> 16 & 15) - 8);
  return Format::round(static_cast<double>(bits >> 32 & 1 ? -x : x)).bits;
}

template <class Format, Op op>
Numbers numbers_of(MPI_Datatype type, MPI_Op operation) {
  const auto make = [](int giver, std::size_t i, std::uint64_t) {
    return element<Format>(giver, i);
  };
  const std::string name = std::string(name_of(op)) + " of " + sumac::name_of(Format::kType);
  return numbers<Bits>(name, type, operation, make, combine<Format, op>);
}

constexpr std::size_t kCount = 4099;

void reduce(const char* hints, const Numbers& n, bool by_kernel) {
  Call call({.what = What::allreduce, .numbers = &n, .counts = {kCount}});
  const long before = calls;
  step("%s: %s", hints, call.text().c_str());
  call.begin();
  if (!only_linked) {
    // The program's function must be called; over a hierarchy Sumac hands the call down.
    const bool left = was_handed_down("user-defined operation over a hierarchy");
    CHECK(was_taken() || (left && !by_kernel), "%s: path '%s'", step_text, path());
    if (was_taken() && !by_kernel) CHECK((calls > before) == (ranks > 1), "%s", step_text);
  }
  call.check(hints);
}

template <class Format, Op op>
void sweep(int kind) {
  MPI_Datatype two_bytes;
  MPI_Op users, ours;
  MPI_Type_contiguous(2, MPI_BYTE, &two_bytes);
  MPI_Type_commit(&two_bytes);
  MPI_Op_create(user_function<Format, op>, 1, &users);
  const bool kernel = sumac::is_defined(op, Format::kType) && sumac::find_reduce(op, Format::kType);
  const Numbers n = numbers_of<Format, op>(two_bytes, users);
  reduce("no hints", n, false);
  CHECK(sumac_hint_op(users, kind) == MPI_SUCCESS, "%s", name_of(op));
  reduce("hint of the operation alone", n, false);
  CHECK(sumac_hint_type(two_bytes, Format::kElement) == MPI_SUCCESS, "%s", name_of(op));
  const long before = calls;
  reduce("both hints", n, kernel);
  CHECK(only_linked || !kernel || calls == before, "%ld calls of the user's function",
        calls - before);
  if (kernel) {
    CHECK(sumac_op_create(kind, 0, &ours) == MPI_SUCCESS, "%s", name_of(op));
    reduce("an operation of Sumac's", numbers_of<Format, op>(two_bytes, ours), true);
    MPI_Op_free(&ours);
  }
  // The operation and the type may be freed while a request is under way.
  Call call(
      {.what = What::allreduce, .numbers = &n, .counts = {kCount}, .form = Form::nonblocking});
  call.begin();
  if (kernel) expect_taken_nonblocking("iallreduce");
  MPI_Op_free(&users);
  MPI_Type_free(&two_bytes);
  call.wait();
  call.check("freed while under way");
}

template <class Format>
void sweep_all() {
  // Several rounds, so that the MPI uses handles again.
  for (int round = 0; round < 3; ++round) {
    sweep<Format, Op::sum>(SUMAC_SUM);
    sweep<Format, Op::prod>(SUMAC_PROD);
    sweep<Format, Op::min>(SUMAC_MIN);
    sweep<Format, Op::max>(SUMAC_MAX);
  }
}

// The oracle's own two conversions must agree on every finite number.
template <class Format>
void check_oracle() {
  std::size_t wrong = 0;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double x =
        Format::is_nan({static_cast<Bits>(bits)}) ? 0 : Format::value({static_cast<Bits>(bits)});
    if (x != 0 && std::isfinite(x)) wrong += Format::round(x).bits != bits;
  }
  CHECK(wrong == 0, "%zu of %s", wrong, sumac::name_of(Format::kType));
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  if (!only_linked) CHECK(warm_up(MPI_COMM_WORLD), "path '%s'", path());
  check_oracle<Float16>();
  check_oracle<Bfloat16>();
  sweep_all<Float16>();
  sweep_all<Bfloat16>();
  return finish();
}
