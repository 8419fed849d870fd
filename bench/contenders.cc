// SPDX-License-Identifier: BSD-3-Clause
#include "contenders.h"

#include <stdexcept>

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

}  // namespace sumac::bench
