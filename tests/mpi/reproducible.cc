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

#include "cases.h"
#include "element_oracle.h"
#include "persistent.h"

namespace {

using namespace test;

bool expects_difference = false, only_blocking = false, has_inits = false;
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

// Zeros of both signs, NaNs of two kinds, and small numbers.
double odd_number(int giver, std::size_t i, std::uint64_t seed) {
  const std::uint64_t bits = mix(seed + i * 131 + static_cast<unsigned>(giver));
  const double special[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 1, -1, 2};
  return special[bits % 6];
}

// Whoever moves elements may move the gaps in them.
Numbers without_gaps(Numbers n, std::size_t data) {
  n.stands_for = [data](const unsigned char* got, const unsigned char* right) {
    return std::memcmp(got, right, data) == 0;
  };
  return n;
}

// What is reduced, of how many bytes at most, and in which forms.
struct Kind {
  Numbers numbers;
  std::size_t most_bytes = SIZE_MAX;
  bool only_blocking = false;
};

Kind double_sum() { return {any_numbers<double>("double sum", MPI_DOUBLE, MPI_SUM, Sum())}; }

class Kinds {
 public:
  Kinds() {
    MPI_Op_create(halve_and_add<double>, 1, &user_);
    MPI_Op_create(halve_and_add_spaced, 1, &user_spaced_);
    MPI_Type_create_resized(MPI_DOUBLE, 0, sizeof(Spaced), &spaced_);
    MPI_Type_commit(&spaced_);
    using Complex = std::complex<float>;
    const auto complex = [](int giver, std::size_t i, std::uint64_t seed) {
      return Complex(value<float>(giver, i, seed), value<float>(giver, i, seed + 1));
    };
    const auto product = [](double a, double b) { return a * b; };
    const auto greater = [](double a, double b) { return a > b ? a : b; };
    const auto halve = [](double a, double b) { return a * 0.5 + b; };
    all = {double_sum(),
           {any_numbers<float>("float sum", MPI_FLOAT, MPI_SUM, Sum())},
           {any_numbers<double>("double product", MPI_DOUBLE, MPI_PROD, product), 9000},
           {numbers<double>("double max", MPI_DOUBLE, MPI_MAX, odd_number, greater), 9000},
           {numbers<Complex>("complex sum", MPI_C_FLOAT_COMPLEX, MPI_SUM, complex,
                             [](Complex x, Complex y) { return x + y; }),
            70000},
           {any_numbers<int>("int sum", MPI_INT, MPI_SUM, Sum()), 9000},
           {without_gaps(numbers_of({"DOUBLE_INT", MPI_DOUBLE_INT, kLocation, DType::f64_i32},
                                    {"MINLOC", MPI_MINLOC, kLocation, Op::minloc}, DType::f64_i32),
                         12),
            20000},
           {numbers<double>("user's", MPI_DOUBLE, user_, value<double>, halve), 70000, true},
           {without_gaps(numbers<double>("user's spaced", spaced_, user_spaced_, value<double>,
                                         halve, sizeof(Spaced)),
                         8),
            70000, true}};
  }
  ~Kinds() {
    MPI_Op_free(&user_);
    MPI_Op_free(&user_spaced_);
    MPI_Type_free(&spaced_);
  }
  Kinds(const Kinds&) = delete;
  Kinds& operator=(const Kinds&) = delete;

  std::vector<Kind> all;

 private:
  MPI_Op user_ = MPI_OP_NULL, user_spaced_ = MPI_OP_NULL;
  MPI_Datatype spaced_ = MPI_DATATYPE_NULL;
};

constexpr What kWhats[] = {What::allreduce, What::reduce, What::reduce_scatter_block,
                           What::reduce_scatter};

void make(Case c, const Group& group, std::size_t count) {
  const auto p = static_cast<std::size_t>(group.size());
  c.counts = {scatters(c.what) ? count / p : count};
  c.root = static_cast<int>(c.seed % p);
  if (c.what == What::reduce_scatter) {
    c.counts.assign(p, count / p);
    c.counts[p - 1] += count % p;
    std::swap(c.counts[0], c.counts[p / 2]);
  }
  Call call(c, group);
  step("%s", call.text().c_str());
  CHECK(call.begin() == MPI_SUCCESS, "%s", step_text);
  call.start();
  call.wait();
  differing += !call.is_right();
  if (expects_difference) return;
  call.check();
  if (c.form == Form::blocking) {
    CHECK(!was_handed_down("reduced in the MPI's own order (not covered by SUMAC_REPRODUCIBLE)"),
          "%s", step_text);
  }
}

void run_kinds(const Kinds& kinds, const Group& group, std::size_t most, Random& random) {
  for (const Kind& kind : kinds.all) {
    const std::size_t least = std::min(most, kind.most_bytes) / kind.numbers.size;
    for (const What what : kWhats) {
      for (const std::size_t count :
           {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}, std::size_t{257},
            std::size_t{1025}, std::size_t{8193}, least}) {
        if (count > least) continue;
        Case c{.what = what, .numbers = &kind.numbers};
        const bool blocking = random.below(2) || kind.only_blocking || only_blocking;
        if (!blocking) c.form = static_cast<Form>(random.below(has_inits ? 3 : 2));
        c.in_place = random.below(2) == 0;
        c.seed = random.next();
        make(c, group, count);
      }
    }
  }
}

// The first calls on a communicator, one kind after another: before and after it is set up.
void first_calls(Random& random) {
  const Numbers sum = double_sum().numbers;
  for (const What what : kWhats) {
    for (const std::size_t count : {1u, 3u, 500u, 70000u}) {
      MPI_Comm comm;
      MPI_Comm_split(MPI_COMM_WORLD, 0, count % 2 ? rank : -rank, &comm);
      const Group group = group_of(comm);
      for (int i = 0; i < 4; ++i) {
        const bool in_place = random.below(2) == 0;
        make({.what = what, .numbers = &sum, .in_place = in_place, .seed = random.next()}, group,
             count);
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
  run_kinds(kinds, world(), most, random);
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &some);
  for (int i = 0; i < 2; ++i) MPI_Barrier(some);
  Random of_some(static_cast<std::uint64_t>(rank % 2) + 1);
  run_kinds(kinds, group_of(some), most / 4, of_some);
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
  has_inits = inits().Allreduce != nullptr;
  run_all(most);
  long all = differing;
  native().Allreduce(&differing, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (expects_difference) CHECK(all > 0, "every result is that of a fold in rank order");
  return finish();
}
