// SPDX-License-Identifier: BSD-3-Clause
// Whether two results of a reduction may both be right: what SUMAC_CHECK=results compares by. Plain
// values only.
//
// Two orders of folding give the same bits, except where the standard leaves the result open
// (docs/checking.md). There the ranks' inputs decide how far results may be apart: each rank makes
// its `weights` of them, whose sums over the ranks bound the difference.
#pragma once

#include <cstddef>
#include <string>

#include "base/types.h"

namespace sumac {

struct ComparedReduction {
  Op op = Op::none;            // none: elements are compared byte by byte
  DType type = DType::none;    // none: likewise
  bool sign_in_doubt = false;  // some MPIs compare these integers as if they had no sign, or one
  int ranks = 0;               // of which each gives one input
  std::size_t element = 0;     // bytes from one element to the next
};

// Weights of an element: 0 where the results must be equal whatever the inputs.
int weights_of(const ComparedReduction& reduction);
// Writes the weights of `count` elements of this rank's input.
void weigh(const ComparedReduction& reduction, const std::byte* input, std::size_t count,
           double* weights);

enum class Verdict { equal, undecided, different };

// Compares elements; `weights` are the sums over all ranks. `at`: the first element that is
// different. Undecided: some differ, but as the standard allows.
Verdict compare(const ComparedReduction& reduction, const std::byte* own, const std::byte* other,
                std::size_t count, const double* weights, std::size_t& at);

// How far apart the results of an element may be, as text, and an element's value.
std::string bound_text(const ComparedReduction& reduction, const std::byte* other,
                       const double* weights);
std::string element_text(DType type, const std::byte* element, std::size_t bytes);

// A hash of bytes that come in pieces of any size: the same however they are cut.
class BitsHash {
 public:
  void add(const std::byte* bytes, std::size_t count);
  // Elements without the gaps of their type, whose bytes mean nothing.
  void add_elements(DType type, const std::byte* elements, std::size_t count);
  unsigned long long value() const;

 private:
  unsigned long long hash_ = 0x9e3779b97f4a7c15ull, rest_ = 0;
  int held_ = 0;  // bytes of rest_
};

}  // namespace sumac
