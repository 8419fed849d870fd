// SPDX-License-Identifier: BSD-3-Clause
// These functions say if two results of a reduction may both be right: SUMAC_CHECK=results compares
// by them. They use plain values only.
//
// Two orders of folding give the same bits, except where the standard leaves the result open
// (docs/reproducible.md). There the ranks' inputs decide how far results may be apart: each rank
// makes `weights` from its inputs, and their sums over the ranks bound the difference.
#pragma once

#include <cstddef>
#include <string>

#include "base/types.h"

namespace sumac {

struct ComparedReduction {
  Op op = Op::none;            // none: elements are compared byte by byte
  DType type = DType::none;    // none: the same
  bool sign_in_doubt = false;  // some MPIs compare these integers as if they had no sign, or one
  int ranks = 0;               // number of ranks, each of which gives one input
  std::size_t element = 0;     // bytes from one element to the next
};

// Returns the number of weights of an element; 0 if the results must be equal whatever the inputs
// are.
int weights_of(const ComparedReduction& reduction);
// Writes the weights of `count` elements of this rank's input.
void weigh(const ComparedReduction& reduction, const std::byte* input, std::size_t count,
           double* weights);

enum class Verdict { equal, undecided, different };

// Compares elements; `weights` are the sums over all ranks. Sets `at` to the first element that is
// different. Undecided means that some elements differ, but as the standard allows.
Verdict compare(const ComparedReduction& reduction, const std::byte* own, const std::byte* other,
                std::size_t count, const double* weights, std::size_t& at);

// Return as text how far apart the results of an element may be, and an element's value.
std::string bound_text(const ComparedReduction& reduction, const std::byte* other,
                       const double* weights);
std::string element_text(DType type, const std::byte* element, std::size_t bytes);

// This is a hash of bytes that come in pieces of any size; it does not depend on how they are cut.
class BitsHash {
 public:
  void add(const std::byte* bytes, std::size_t count);
  // Adds elements without the gaps of their type, whose bytes mean nothing.
  void add_elements(DType type, const std::byte* elements, std::size_t count);
  unsigned long long value() const;

 private:
  unsigned long long hash_ = 0x9e3779b97f4a7c15ull, rest_ = 0;
  int held_ = 0;  // number of bytes in rest_
};

}  // namespace sumac
