// SPDX-License-Identifier: BSD-3-Clause
// A program without OpenMP that loads a run-time library later, where dlsym(RTLD_DEFAULT) does not
// find it.
#include <dlfcn.h>

#include "tests/openmp/folds.h"

namespace sumac::testing {
namespace {

TEST(Late, OneThreadAndCountedUntilAnOpenMpIsLoaded) {
  allow_threads(0);
  {
    const Counted counted;
    for (const std::size_t bytes : sizes()) expect_right(bytes / 4, 4);
    expect_right(kLarge, 0);
    EXPECT_EQ(threads_of(kLarge), 1u);
    EXPECT_GT(counted.by(ThreadUse::no_openmp), 2u);
    EXPECT_EQ(counted.by(ThreadUse::no_openmp), counted.all());
    EXPECT_TRUE(find_openmp().empty());
  }
  ASSERT_EQ(dlsym(RTLD_DEFAULT, "omp_in_parallel"), nullptr);
  const char* const late = std::getenv("SUMAC_TEST_OPENMP");
  void* const object = dlopen(late ? late : "libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(object, nullptr) << dlerror();
  ASSERT_EQ(dlsym(RTLD_DEFAULT, "omp_in_parallel"), nullptr);
  {
    // LLVM's and Intel's libraries read their environment when they are first used. A reduction
    // that opens no regions must not be that first use.
    constexpr bool kOwnRegions = false;
    allow_threads(0, kOwnRegions);
    const Counted counted;
    expect_right(kLarge, 0);
    EXPECT_EQ(counted.by(ThreadUse::outside), 1u);
    setenv("OMP_MAX_ACTIVE_LEVELS", "7", 1);
    const auto levels = reinterpret_cast<int (*)()>(dlsym(object, "omp_get_max_active_levels"));
    const bool reads_late = dlsym(object, "__kmpc_fork_call") != nullptr;
    EXPECT_TRUE(!reads_late || levels() == 7);
  }
  allow_threads(0);
  const Counted counted;
  expect_right(kLarge, 0);
  EXPECT_EQ(find_openmp().size(), 1u);
  EXPECT_EQ(counted.by(ThreadUse::no_openmp), 0u);
  EXPECT_EQ(counted.by(ThreadUse::region), allowed() > 1 ? 1u : 0u);
  // Sumac keeps the library loaded, because it has stored its functions.
  dlclose(object);
  expect_right(kLarge, 0);
  EXPECT_EQ(counted.by(ThreadUse::region), allowed() > 1 ? 2u : 0u);
}

}  // namespace
}  // namespace sumac::testing
