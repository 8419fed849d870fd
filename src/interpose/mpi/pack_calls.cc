// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/pack_calls.h"

namespace sumac {

PackCalls redirect_pack_calls(const sumac_stub& stub, const PackCalls& own) {
  PackCalls below{};
  const auto redirect = [&](int call, auto& function, auto* before) {
    function = reinterpret_cast<decltype(before)>(stub.below[call]);
    stub.redirect(call, reinterpret_cast<void*>(before));
  };
  redirect(SUMAC_CALL_Pack, below.pack, own.pack);
  redirect(SUMAC_CALL_Unpack, below.unpack, own.unpack);
  redirect(SUMAC_CALL_Pack_c, below.pack_large, own.pack_large);
  redirect(SUMAC_CALL_Unpack_c, below.unpack_large, own.unpack_large);
  return below;
}

}  // namespace sumac
