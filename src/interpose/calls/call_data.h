// SPDX-License-Identifier: BSD-3-Clause
// Describes a decided call as ranks carry it out, and keeps until its end what the description
// refers to: copies of data that cannot be taken as they lie, and handles.
#pragma once

#include <memory>
#include <optional>

#include "algorithms/table.h"
#include "interpose/calls/blocks.h"
#include "interpose/calls/decide.h"
#include "interpose/calls/exchange.h"
#include "interpose/mpi/gap_buffer.h"
#include "interpose/mpi/packing.h"

namespace sumac {

class CallData {
 public:
  CallData() {}  // not constexpr, or the compiler would fill all of it with zeros at every call
  // Describes a served call. For a deferred one, keeps copies of what the program may free before
  // the end.
  ChosenCall describe(const Call& call, const Decision& decision);

  // Must be called before each start: packs or copies the data as they are now, and does what needs
  // no other rank.
  void load(const ChosenCall& described) {
    if (has_copies_) load_copies(described);
  }
  // Must be called after the end: puts the result where the program wants it.
  void deliver() {
    if (has_copies_) deliver_copies();
  }
  // Frees what is kept, until the next describe().
  void free();

  bool is_local() const { return local_; }
  bool has_copies() const { return has_copies_; }
  std::size_t bytes() const { return bytes_; }  // counted in the statistics

 private:
  CallArguments arguments_of(const Call& call, const Decision& decision);
  ReduceArguments reduction(const Call& call, const Decision& decision);
  BcastArguments bcast(const Call& call, const Decision& decision);
  ReduceScatterArguments reduce_scatter(const Call& call, const Decision& decision);
  AllgatherArguments allgather(const Call& call, const Decision& decision);
  AlltoallArguments exchange(const Call& call, const Decision& decision);
  void describe_result(AllgatherArguments& args, const Call& call, const Decision& decision);
  void gather_listed(const Call& call, const Blocks& blocks, std::size_t element);
  PackedBuffer::Use use_sent(const Call& call) const { return {takes_.sent, call.is_deferred()}; }
  PackedBuffer::Use use_received(const Call& call) const {
    return {takes_.received, call.is_deferred()};
  }
  void copy_or_stage(const TypeInfo& type, std::byte*& output, std::size_t count, MpiComm comm);
  void load_copies(const ChosenCall& described);
  void deliver_copies();

  bool local_ = false;
  bool has_copies_ = false;  // there is something to do before or after the call
  bool packs_ = false;       // `packed_` is a copy, or what a broadcast's root sends
  TakesGaps takes_{};        // data with gaps that the algorithm takes
  std::size_t bytes_ = 0;
  std::optional<TypeInfo> copied_;      // type of a local reduction, whose input becomes its output
  std::optional<PackedBuffer> packed_;  // data of a broadcast, or this rank's part of an all-gather
  std::optional<PackedBuffer> gathered_;    // result of an all-gather, if it does not lie packed
  std::unique_ptr<Part[]> parts_;           // set if the program lists the parts
  std::unique_ptr<ExchangeData> exchange_;  // all-to-all, unless it has equal packed blocks
  std::optional<StagedResult> staged_;      // result of a reduction whose type has gaps
};

}  // namespace sumac
