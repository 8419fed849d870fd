// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_REPRODUCIBLE: every reduction has the bits of a serial fold in the order of ranks, from the
// first call on a communicator on, whoever moves the data; in place or not, in every form, on
// communicators in any order of ranks.
//   reproducible [BYTES] [--blocking] [--differs]
//     --blocking  no nonblocking and persistent calls
//     --differs   without the option: on some rank a result must differ
#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "check.h"
#include "data.h"
#include "groups.h"

namespace {

using namespace test;

bool expects_difference = false, only_blocking = false;
long differing = 0;

// Associative only on paper, and declared commutative: the MPI may fold in any order.
template <class T>
void halve_and_add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    T& right = static_cast<T*>(inout)[i];
    right = static_cast<const T*>(in)[i] * T(0.5) + right;
  }
}

// A value and a gap of the program's.
struct Spaced {
  double value, gap;
};
void halve_and_add_spaced(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    double& right = static_cast<Spaced*>(inout)[i].value;
    right = static_cast<const Spaced*>(in)[i].value * 0.5 + right;
  }
}

// An element type with an operation, for MPI and for the oracle.
template <class T>
struct Kind {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  T (*apply)(T left, T right);
  T (*make)(int rank, std::size_t i, std::uint64_t seed);
  bool (*same)(const T& a, const T& b);
};

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
bool same_value(const Spaced& a, const Spaced& b) { return same_bits(a.value, b.value); }

// Zeros of both signs, NaNs of two kinds, and small numbers.
double odd_number(int r, std::size_t i, std::uint64_t seed) {
  const std::uint64_t bits = mix(seed + i * 131 + static_cast<unsigned>(r));
  const double special[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 1, -1, 2};
  return special[bits % 6];
}

enum class What { allreduce, reduce, scatter_block, scatter };
constexpr const char* kNames[] = {"allreduce", "reduce", "reduce_scatter_block", "reduce_scatter"};

// One call of one communicator, in any form.
template <class T>
struct Case {
  const Group& group;
  const Kind<T>& kind;
  What what;
  std::size_t count;  // of the whole vector
  bool in_place;
  int form;  // 0: blocking, 1: nonblocking, 2: persistent
  std::uint64_t seed;

  int root() const { return static_cast<int>(seed % static_cast<unsigned>(group.size())); }
  std::vector<int> counts() const {
    const auto p = static_cast<std::size_t>(group.size());
    std::vector<int> all(p, static_cast<int>(count / p));
    if (what == What::scatter) all[p - 1] += static_cast<int>(count % p);
    if (what == What::scatter && p > 1) std::swap(all[0], all[p / 2]);
    return all;
  }
  std::size_t elements() const {
    const auto p = static_cast<std::size_t>(group.size());
    return what == What::scatter_block ? count / p * p : count;
  }
  // Where this rank's part of the result begins in the vector, and its length.
  std::pair<std::size_t, std::size_t> part() const {
    if (what == What::allreduce) return {0, elements()};
    if (what == What::reduce) return {0, group.rank == root() ? elements() : 0};
    const std::vector<int> all = counts();
    std::size_t first = 0;
    for (int r = 0; r < group.rank; ++r) first += static_cast<std::size_t>(all[std::size_t(r)]);
    return {first, static_cast<std::size_t>(all[static_cast<std::size_t>(group.rank)])};
  }
  T element(int r, std::size_t i) const {
    return kind.make(group.members[static_cast<std::size_t>(r)], i, seed);
  }
  T expected(std::size_t i) const {
    T value = element(0, i);
    for (int r = 1; r < group.size(); ++r) value = kind.apply(value, element(r, i));
    return value;
  }

  void call(const void* in, void* out, const std::vector<int>& all, MPI_Request* request) const {
    const int n = static_cast<int>(elements()), block = all[0];
    const MPI_Comm c = group.comm;
    if (what == What::allreduce) {
      form == 0 ? MPI_Allreduce(in, out, n, kind.type, kind.op, c)
      : form == 1
          ? MPI_Iallreduce(in, out, n, kind.type, kind.op, c, request)
          : persistent().allreduce(in, out, n, kind.type, kind.op, c, MPI_INFO_NULL, request);
    } else if (what == What::reduce) {
      form == 0 ? MPI_Reduce(in, out, n, kind.type, kind.op, root(), c)
                : MPI_Ireduce(in, out, n, kind.type, kind.op, root(), c, request);
    } else if (what == What::scatter_block) {
      form == 0 ? MPI_Reduce_scatter_block(in, out, block, kind.type, kind.op, c)
                : MPI_Ireduce_scatter_block(in, out, block, kind.type, kind.op, c, request);
    } else {
      form == 0 ? MPI_Reduce_scatter(in, out, all.data(), kind.type, kind.op, c)
                : MPI_Ireduce_scatter(in, out, all.data(), kind.type, kind.op, c, request);
    }
  }
  struct Persistent {
    int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                     MPI_Request*);
  };
  static const Persistent& persistent() {
    static const Persistent found{in_sumac<decltype(Persistent::allreduce)>("MPI_Allreduce_init")};
    return found;
  }

  void run() const {
    step("%s of %zu %s, form %d%s", kNames[static_cast<int>(what)], elements(), kind.name, form,
         in_place ? ", in place" : "");
    const std::vector<int> all = counts();
    std::vector<T> in(elements() + 1), out(elements() + 1);
    for (std::size_t i = 0; i < elements(); ++i) in[i] = element(group.rank, i);
    const bool has_result = what != What::reduce || group.rank == root();
    const bool placed = in_place && has_result;
    if (placed) out = in;
    MPI_Request request = MPI_REQUEST_NULL;
    call(placed ? MPI_IN_PLACE : in.data(), out.data(), all, &request);
    if (form == 2) MPI_Start(&request);
    if (form > 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == 2) MPI_Request_free(&request);
    const auto [first, length] = part();
    bool right = true;
    for (std::size_t i = 0; i < length; ++i) right &= kind.same(out[i], expected(first + i));
    differing += !right;
    CHECK(right || expects_difference, "%s, path '%s'", step_text, path());
    if (form == 0 && !expects_difference) {
      CHECK(!was_handed_down("in an order of its own, whatever SUMAC_REPRODUCIBLE says"), "%s",
            step_text);
    }
  }
};

template <class T>
void run_kind(const Group& group, const Kind<T>& kind, std::size_t most, bool blocking_only,
              Random& random) {
  const std::size_t sizes[] = {1, 2, 7, 64, 257, 1025, 8193, most / sizeof(T)};
  for (const What what : {What::allreduce, What::reduce, What::scatter_block, What::scatter}) {
    for (std::size_t count : sizes) {
      if (count * sizeof(T) > most) continue;
      const int forms = blocking_only ? 1 : what == What::allreduce ? 3 : 2;
      const int form = static_cast<int>(random.below(2) ? 0 : random.below(unsigned(forms)));
      const bool missing = form == 2 && !Case<T>::persistent().allreduce;
      const bool in_place = random.below(2) == 0;
      const std::uint64_t seed = random.next();
      Case<T>{group, kind, what, count, in_place, only_blocking || missing ? 0 : form, seed}.run();
    }
  }
}

// MPICH and Open MPI give pairs of a double and an int the same form.
struct Pair {
  double value;
  int index;
};
bool same_pair(const Pair& a, const Pair& b) { return a.value == b.value && a.index == b.index; }

struct Kinds {
  Kinds() {
    MPI_Op_create(halve_and_add<double>, 1, &user);
    MPI_Op_create(halve_and_add_spaced, 1, &user_spaced);
    MPI_Type_create_resized(MPI_DOUBLE, 0, sizeof(Spaced), &spaced);
    MPI_Type_commit(&spaced);
  }
  ~Kinds() {
    MPI_Op_free(&user);
    MPI_Op_free(&user_spaced);
    MPI_Type_free(&spaced);
  }
  Kinds(const Kinds&) = delete;
  Kinds& operator=(const Kinds&) = delete;

  void run(const Group& group, std::size_t most, Random& random) const {
    using Complex = std::complex<float>;
    const Kind<double> sum{"double sum",  MPI_DOUBLE,
                           MPI_SUM,       [](double a, double b) { return a + b; },
                           value<double>, same_bits<double>};
    const Kind<float> float_sum{"float sum",  MPI_FLOAT,
                                MPI_SUM,      [](float a, float b) { return a + b; },
                                value<float>, same_bits<float>};
    const Kind<double> product{"double product", MPI_DOUBLE,
                               MPI_PROD,         [](double a, double b) { return a * b; },
                               value<double>,    same_bits<double>};
    const Kind<double> greatest{"double max", MPI_DOUBLE,
                                MPI_MAX,      [](double a, double b) { return a > b ? a : b; },
                                odd_number,   same_bits<double>};
    const Kind<Complex> complex_sum{"complex sum",
                                    MPI_C_FLOAT_COMPLEX,
                                    MPI_SUM,
                                    [](Complex a, Complex b) { return a + b; },
                                    [](int r, std::size_t i, std::uint64_t s) {
                                      return Complex(value<float>(r, i, s),
                                                     value<float>(r, i, s + 1));
                                    },
                                    same_bits<Complex>};
    const Kind<int> integers{"int sum",  MPI_INT,
                             MPI_SUM,    [](int a, int b) { return Sum()(a, b); },
                             value<int>, same_bits<int>};
    const Kind<Pair> pairs{
        "minloc",
        MPI_DOUBLE_INT,
        MPI_MINLOC,
        [](Pair a, Pair b) {
          if (a.value != b.value) return a.value < b.value ? a : b;
          return a.index < b.index ? a : b;
        },
        [](int r, std::size_t i, std::uint64_t s) {
          const std::uint64_t bits = mix(s + i * 31 + static_cast<unsigned>(r));
          return Pair{static_cast<double>(bits % 3), static_cast<int>(bits >> 8 & 15)};
        },
        same_pair};
    const Kind<double> users{"user's",      MPI_DOUBLE,
                             user,          [](double a, double b) { return a * 0.5 + b; },
                             value<double>, same_bits<double>};
    const Kind<Spaced> users_spaced{"user's spaced",
                                    spaced,
                                    user_spaced,
                                    [](Spaced a, Spaced b) {
                                      return Spaced{a.value * 0.5 + b.value, 0};
                                    },
                                    [](int r, std::size_t i, std::uint64_t s) {
                                      return Spaced{value<double>(r, i, s), 0};
                                    },
                                    same_value};
    run_kind(group, sum, most, false, random);
    run_kind(group, float_sum, most, false, random);
    run_kind(group, product, 9000, false, random);
    run_kind(group, greatest, 9000, false, random);
    run_kind(group, complex_sum, 70000, false, random);
    run_kind(group, integers, 9000, false, random);
    run_kind(group, pairs, 20000, false, random);
    run_kind(group, users, 70000, true, random);
    run_kind(group, users_spaced, 70000, true, random);
  }

  MPI_Op user = MPI_OP_NULL, user_spaced = MPI_OP_NULL;
  MPI_Datatype spaced = MPI_DATATYPE_NULL;
};

// The first calls on a communicator, one kind after another: before and after it is set up.
void first_calls(Random& random) {
  const Kind<double> sum{"double sum",  MPI_DOUBLE,
                         MPI_SUM,       [](double a, double b) { return a + b; },
                         value<double>, same_bits<double>};
  for (const What what : {What::allreduce, What::reduce, What::scatter_block, What::scatter}) {
    for (const std::size_t count : {1u, 3u, 500u, 70000u}) {
      MPI_Comm comm;
      MPI_Comm_split(MPI_COMM_WORLD, 0, count % 2 ? rank : -rank, &comm);
      const Group group = group_of(comm);
      for (int i = 0; i < 4; ++i) {
        Case<double>{group, sum, what, count, random.below(2) == 0, 0, random.next()}.run();
      }
      MPI_Comm_free(&comm);
    }
  }
}

void run_all(std::size_t most) {
  Random random(19);
  first_calls(random);
  for (int i = 0; i < 2; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const Kinds kinds;
  kinds.run(group_of(MPI_COMM_WORLD), most, random);
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &some);
  for (int i = 0; i < 2; ++i) MPI_Barrier(some);
  Random of_some(static_cast<std::uint64_t>(rank % 2) + 1);
  kinds.run(group_of(some), most / 4, of_some);
  MPI_Comm_free(&some);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  std::size_t most = 300000;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--differs") {
      expects_difference = true;
    } else if (std::string(argv[i]) == "--blocking") {
      only_blocking = true;
    } else {
      most = std::strtoul(argv[i], nullptr, 0);
    }
  }
  run_all(most);
  long all = differing;
  native().Allreduce(&differing, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (expects_difference) CHECK(all > 0, "every result is that of a fold in rank order");
  return finish();
}
