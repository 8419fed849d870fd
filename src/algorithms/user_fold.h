// SPDX-License-Identifier: BSD-3-Clause
// This fold uses the program's own operation, whose function is called through the MPI.
#pragma once

#include <cstddef>

namespace sumac {

class UserFold {
 public:
  // Returns rank r's elements, valid until the next call. They are copied before the function sees
  // them, since it may write its operands.
  using Source = const std::byte* (*)(const void* context, int rank);

  // Computes output[i] = (source(0)[i] op source(1)[i]) op ... for i < count, in the calling
  // thread. `output` may be exactly one of the sources.
  virtual void fold(std::byte* output, int ranks, std::size_t count, Source source,
                    const void* context) = 0;

 protected:
  ~UserFold() = default;
};

}  // namespace sumac
