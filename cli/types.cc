// SPDX-License-Identifier: BSD-3-Clause
// Prints the table of element types (base/types.h) as JSON, with the operations defined on each.
#include "base/types.h"

#include <cstdio>

namespace {

constexpr const char* name_of(sumac::ElementKind kind) {
  switch (kind) {
    case sumac::ElementKind::integer:
      return "integer";
    case sumac::ElementKind::floating:
      return "floating";
    case sumac::ElementKind::complex:
      return "complex";
    case sumac::ElementKind::pair:
      return "pair";
    case sumac::ElementKind::none:
      break;
  }
  return "none";
}

constexpr const char* kMpiNames[] = {
#define SUMAC_ELEMENT(type, name, bytes, kind, kernels, mpi, ...) #mpi,
#include "base/types.def"
};

void print_row(sumac::DType type) {
  const sumac::DTypeInfo& info = sumac::info_of(type);
  std::printf(R"(  {"name": "%s", "size": %u, "kind": "%s", "mpi": "%s", "ops": [)", info.name,
              static_cast<unsigned>(info.size), name_of(info.kind),
              kMpiNames[static_cast<int>(type)]);
  const char* comma = "";
  for (int i = 0; i < sumac::kNumOps; ++i) {
    const auto op = static_cast<sumac::Op>(i);
    if (!sumac::is_defined(op, type)) continue;
    std::printf("%s\"%s\"", comma, sumac::name_of(op));
    comma = ", ";
  }
  std::printf("]}");
}

}  // namespace

extern "C" int command_types(void) {
  for (int i = 0; i < sumac::kNumDTypes; ++i) {
    std::printf(i == 0 ? "[\n" : ",\n");
    print_row(static_cast<sumac::DType>(i));
  }
  std::printf("\n]\n");
  return 0;
}
