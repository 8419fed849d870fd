// SPDX-License-Identifier: BSD-3-Clause
// Several threads of the process share large reductions, cut into independent pieces: kernels work
// element by element, so the bits are those of one thread.
#pragma once

#include <cstddef>

#include "tasks/threads.h"

namespace sumac {

// This cuts `count` elements from `address` on at boundaries of cache lines, as far as the elements
// allow.
class Cut {
 public:
  Cut(const void* address, std::size_t count, std::size_t element, int threads);

  std::size_t pieces() const { return pieces_; }
  std::size_t begin(std::size_t piece) const {
    return piece == 0 ? 0 : piece < pieces_ ? head_ + piece * size_ : count_;
  }

 private:
  std::size_t count_, head_ = 0, size_, pieces_;
};

// The function is not inline, so that work below the threshold pays for a comparison only.
void run_in_pieces(const void* address, std::size_t count, std::size_t element, void* data,
                   void (*work)(void* data, std::size_t first, std::size_t count));
void run_by_threads(int most, void* data, void (*work)(void* data, int thread, int threads));

// Calls work(first, n) for ranges that together make up the `count` elements to be stored from
// `address` on. Several threads at a time do so if there are many.
template <class Work>
void in_pieces(const void* address, std::size_t count, std::size_t element, const Work& work) {
  if (!worth_threads(count * element)) [[likely]]
    return work(std::size_t{0}, count);
  run_in_pieces(address, count, element, const_cast<Work*>(&work),
                [](void* data, std::size_t first, std::size_t n) {
                  (*static_cast<const Work*>(data))(first, n);
                });
}

// Calls work(t, threads) for 0 <= t < threads <= most, by several threads at a time if `bytes` are
// worth it. It is for work that the threads divide by other means: a thread may find nothing left
// to do.
template <class Work>
void by_threads(std::size_t bytes, int most, const Work& work) {
  if (most < 2 || !worth_threads(bytes)) [[likely]]
    return work(0, 1);
  run_by_threads(most, const_cast<Work*>(&work), [](void* data, int thread, int threads) {
    (*static_cast<const Work*>(data))(thread, threads);
  });
}

}  // namespace sumac
