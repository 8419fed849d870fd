// SPDX-License-Identifier: BSD-3-Clause
// With SUMAC_CHECK=results, a call that Sumac serves is done a second time, by the MPI's own
// function on buffers of the check's, and the two results are compared. See docs/reproducible.md.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpose/calls/check_elements.h"
#include "interpose/calls/decide.h"
#include "interpose/mpi/call.h"

namespace sumac {

// These are the buffers of a call that is done twice: the data that a rank gives and gets, as lists
// of typed data, and memory for a second result. The MPI alone packs types here, so that Sumac's
// own packing is checked too.
//
// These return, for a call that Sumac serves, what this rank gives, and where its result goes.
std::vector<Data> inputs_of(const Call& call, int rank, int ranks);
std::vector<Data> results_of(const Call& call, int rank, int ranks);
// Returns true if the MPI reads the receive buffer before it writes there.
bool reads_receive_buffer(const Call& call, int rank);

Data moved(const Data& data, std::ptrdiff_t by);

// This memory is laid out as the program's memory that the data are in, gaps and all; only what is
// touched takes up memory. The job ends if there is none, since the other ranks go on with the
// call.
class ShadowBuffer {
 public:
  ShadowBuffer(const std::vector<Data>& first, const std::vector<Data>& second, MpiComm comm);
  ~ShadowBuffer();
  ShadowBuffer(const ShadowBuffer&) = delete;
  ShadowBuffer& operator=(const ShadowBuffer&) = delete;

  // Returns the distance in bytes from an address of the program's to the shadow's.
  std::ptrdiff_t shift() const { return shift_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  bool mapped_ = false;
  std::ptrdiff_t shift_ = 0;
};

// This gives typed data as packed bytes, some elements at a time.
class TypedBytes {
 public:
  // Errors are told to the error handler of `comm`.
  TypedBytes(const Data& data, MpiComm comm);
  ~TypedBytes();
  TypedBytes(const TypedBytes&) = delete;
  TypedBytes& operator=(const TypedBytes&) = delete;

  // Returns false if an element is too large for the MPI to pack.
  bool is_readable() const { return dense_ || most_ > 0; }
  std::size_t element() const { return element_; }
  // Finds the packed bytes of the next elements, and returns their number; 0 at the end. The number
  // is the same for the same type and count.
  std::size_t next(const std::byte*& bytes);
  // Writes what the same call of next() on another buffer has given.
  void put(const std::byte* bytes, std::size_t count);

 private:
  Data data_;
  MpiComm comm_;
  bool dense_ = false, owns_type_ = false;
  std::size_t element_ = 0, most_ = 0;  // bytes of one element, and elements at a time
  MpiAint extent_ = 0;
  MpiCount done_ = 0;
  std::unique_ptr<std::byte[]> packed_;
};

// Copies typed data to the same type elsewhere. Data that cannot be packed are left out.
void copy_data(const Data& from, const Data& to, MpiComm comm);

// Reads the option. Must be called once.
void read_check_option();
// One in so many calls on a communicator is checked; 0: none.
extern std::uint64_t results_checked;
// True if the job ends after a result that differs.
extern bool check_ends_job;
// Returns the absolute name of the folder in which data of such a call are kept; empty if they are
// not.
const std::string& check_folder();

// Returns true for a call whose result is compared, the same on all ranks. Counts the calls.
bool takes_check(const Call& call, const Decision& decision);

// This is the first element that is different on this rank.
struct Difference {
  std::size_t at = 0;  // counted through the rank's result
  std::string own, other, bound;
};

// This does one call a second time, or every start of a persistent one. Each rank of the call has
// one.
class ResultCheck {
 public:
  // The object must be made before Sumac touches the program's data.
  ResultCheck(const Call& call, const Decision& decision);
  ~ResultCheck();
  ResultCheck(const ResultCheck&) = delete;
  ResultCheck& operator=(const ResultCheck&) = delete;

  // Does a blocking call a second time and compares, together with the other ranks.
  void finish();

  // These serve a deferred call. If the MPI has no such function, the call is not checked:
  // initialise() then returns false, on all ranks.
  bool initialise();  // for a persistent call
  void load();        // called before Sumac starts
  void start();       // called after it has started; ranks make nonblocking calls in the same order
  bool ended();       // returns true if the MPI's call has ended
  void compare_alone();  // called once both have ended

 private:
  friend class CheckReport;
  bool call_mpi(RequestPointer request) const;
  void keep_types();
  template <class Use>
  void for_each_weights(Use use);
  Verdict compare(Difference& difference, BitsHash& hash) const;
  Verdict compare_piece(const Data& own, std::size_t first, Difference& difference,
                        BitsHash& hash) const;
  void use_other() const;
  bool must_be_same_bits() const;

  Communicator& communicator_;
  const Call call_;
  const MpiComm packs_;  // used in the MPI's pack functions
  const bool by_user_, reads_;
  ComparedReduction by_;
  std::vector<Data> inputs_, results_;
  std::vector<MpiDatatype> kept_;
  ShadowBuffer other_;                 // the MPI's result
  std::optional<ShadowBuffer> saved_;  // copy of the MPI's input, if Sumac overwrites the input
  std::size_t own_first_ = 0;          // the rank's first element in the vector of a reduce-scatter
  std::vector<double> weights_;
  std::vector<MpiRequest> requests_;
  std::size_t num_ended_ = 0;  // number of requests that have ended since the start
  const char* path_ = "";
};

// A difference is reported in one line for the job, and in files by which the call can be repeated.
class CheckReport {
 public:
  CheckReport(const ResultCheck& check, const Difference& difference)
      : check_(check), difference_(difference) {}

  // Reports a blocking call: all ranks agree whether any of them has found a difference, or their
  // results have different bits (`hash`; 0 if these need not be equal). The lowest rank that has
  // says so. Returns true if the MPI's result is to be used; does not return if the job is to end.
  bool agree(Verdict verdict, std::uint64_t hash);

  // Reports a deferred call, by this rank alone.
  bool tell_alone(Verdict verdict);

 private:
  bool make_folder() const;
  void save() const;
  void save_data(int folder, const char* kind, const std::vector<Data>& data,
                 std::ptrdiff_t shift) const;
  void save_call(int folder) const;
  std::string folder() const;
  std::string what() const;
  void tell(const std::string& problem) const;

  const ResultCheck& check_;
  const Difference& difference_;
};

}  // namespace sumac
