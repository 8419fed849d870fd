// SPDX-License-Identifier: BSD-3-Clause
#include "contenders.h"

#include <climits>
#include <stdexcept>

#include "call.h"
#include "local.h"
#include "mpi_types.h"

namespace sumac::bench {
namespace {

// Collective. Makes a trial call. Returns "" if all ranks may make it, else the reason why not.
std::string refusal(const Functions& functions, const Options& options, const World& world,
                    const Buffers& buffers) {
  std::string why;
  try {
    RepeatedCall(functions, options.test(1), buffers, world.rank, world.comm).run();
  } catch (const std::runtime_error& error) {
    why = error.what();
  }
  const bool refused = world.sum(why.empty() ? 0 : 1) > 0;
  return refused && why.empty() ? "another rank could not make the call" : why;
}

}  // namespace

Contenders line_up(const Options& options, const World& world, const Buffers& buffers,
                   bool active) {
  Contenders result{{world.native, options.kind}, {}, {}, {}};
  if (active) result.sumac = Contender{world.called, options.kind};
  if (options.kind != Kind::persistent) return result;
  result.blocking = Contender{world.called, Kind::blocking};
  if (active) result.sumac_lacks = refusal(world.called, options, world, buffers);
  if (!result.sumac_lacks.empty()) result.sumac.reset();
  const std::string mpi_lacks = refusal(world.native, options, world, buffers);
  if (!mpi_lacks.empty()) result.native.kind = Kind::blocking;
  if (!mpi_lacks.empty() && !result.sumac)
    throw Unavailable{"nothing here has this call: " + mpi_lacks};
  return result;
}

namespace {

// Why the sizes cannot be measured, or "".
std::string objection_to_sizes(const Options& options) {
  if (options.min_bytes < 1 || options.min_bytes > options.max_bytes)
    return "the smallest size must be at least 1 and at most the largest";
  const std::vector<std::size_t> sizes = sizes_in_bytes(options);
  const std::size_t least = options.is_local() ? std::size_t{1} : size_of(options.type);
  if (sizes.back() / least > INT_MAX) return "an MPI call takes at most 2^31-1 elements";
  return "";
}

std::string objection_to_local(const Options& options, int ranks) {
  if (ranks != 1) return options.what() + " is measured in one process: start one";
  if (options.pack)
    return pack_cells(options).empty() ? "none of these layouts can have one of these sizes" : "";
  for (const DType type : options.types)
    for (const Op op : options.ops)
      if (is_defined(op, type) && sizes_in_bytes(options).back() >= size_of(type)) return "";
  return "none of these operations, types and sizes go together";
}

}  // namespace

std::string objection(const Options& options, int ranks, const std::string& library) {
  const bool reduces = options.test(1).reduces();
  if (options.root >= ranks) return "root " + std::to_string(options.root) + " is not a rank";
  if (const std::string why = objection_to_sizes(options); !why.empty()) return why;
  if (options.is_local()) return objection_to_local(options, ranks);
  if (!is_predefined(options.type) || mpi_type(options.type) == MPI_DATATYPE_NULL)
    return std::string("this MPI has no ") + name_of(options.type);
  if (counts(options, ranks).empty())
    return std::string("no size from the smallest to the largest holds one ") +
           name_of(options.type);
  if (reduces && !is_defined(options.op, options.type))
    return std::string("MPI has no ") + name_of(options.op) + " of " + name_of(options.type);
  if (options.in_place && !reduces && !options.test(1).has_parts())
    return name_of(options.collective, options.kind) + " has no in-place form";
  if (options.with_counts && (!has_both(options.collective) || options.kind == Kind::persistent))
    return std::string("no other function with counts is measured for ") +
           name_of(options.collective, options.kind);
  if (options.overlap && options.kind == Kind::blocking)
    return std::string("nothing can overlap a blocking ") + name_of(options.collective);
  // MPICH 4.0.2 crashes without Sumac in MPI_Reduce with MPI_IN_PLACE at a root other than 0.
  if (options.in_place && options.collective == Collective::reduce && options.root != 0 &&
      library.find("MPICH Version:\t4.0") != std::string::npos)
    return "this MPICH crashes by itself in an in-place MPI_Reduce whose root is not 0";
  return "";
}

}  // namespace sumac::bench
