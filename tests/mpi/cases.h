// SPDX-License-Identifier: BSD-3-Clause
// A collective call to test: a Case says what varies, a Call makes it and compares all its memory
// with what a serial loop computes from ranks and indices: the result, the input, and the bytes
// between and around them, which nobody may write. A failure is one line that has the whole case.
#pragma once

#include <string>
#include <vector>

#include "base/algorithm.h"
#include "call_memory.h"
#include "forms.h"
#include "groups.h"

namespace test {

// The functions of collectives that Sumac serves, as calls.def and collectives.def have them.
enum class What {
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) function,
#include "interpose/calls.def"
};
struct WhatRow {
  WhatRow(const char* function, sumac::Collective collective, const char* letters)
      : name(function), of(sumac::info_of(collective)), arguments(letters) {
    name[0] = static_cast<char>(name[0] + 'A' - 'a');
  }
  std::string name;  // without MPI_
  sumac::CollectiveInfo of;
  std::string arguments;
};
inline const WhatRow& row_of(What what) {
  static const std::vector<WhatRow> rows = {
#define SUMAC_FUNCTION(function, collective, arguments) \
  {#function, sumac::Collective::collective, arguments},
#include "interpose/calls.def"
#undef SUMAC_CALL
  };
  return rows[static_cast<std::size_t>(what)];
}
inline const char* name_of(What what) { return row_of(what).name.c_str(); }
inline bool takes(What w, sumac::ArgumentKind kind) { return row_of(w).of.arguments == kind; }
inline bool reduces(What w) { return row_of(w).of.reduces; }
inline bool scatters(What w) { return takes(w, sumac::ArgumentKind::reduce_scatter); }
inline bool gathers(What w) { return takes(w, sumac::ArgumentKind::allgather); }
inline bool exchanges(What w) { return takes(w, sumac::ArgumentKind::alltoall); }
inline bool is_bcast(What w) { return takes(w, sumac::ArgumentKind::bcast); }
inline bool rooted(What w) { return row_of(w).of.has_root; }
// Parts may differ in length and, in calls that move data, lie anywhere.
inline bool listed(What w) { return row_of(w).arguments.find('C') != std::string::npos; }

// Returns the functions for which fits(what) is true.
inline std::vector<What> whats_that(bool (*fits)(What)) {
  std::vector<What> some;
#define SUMAC_CALL(name)
#define SUMAC_FUNCTION(function, collective, arguments) \
  if (fits(What::function)) some.push_back(What::function);
#include "interpose/calls.def"
#undef SUMAC_CALL
  return some;
}

struct Case {
  // What all ranks have in common.
  What what = What::barrier;
  const Numbers* numbers = &ints();
  // Elements: one number; or that of each rank's part; or what rank i gives rank j, at
  // [i * ranks + j].
  std::vector<std::size_t> counts{0};
  int root = 0;
  Form form = Form::blocking;
  bool in_place = false;
  bool large = false;  // MPI_X_c
  std::uint64_t seed = 0;
  // What is each rank's own: the layouts of the blocks that it gives and gets, in turn (none: all
  // are plain), a seed for places of its parts in any order (0: they adjoin), bytes by which its
  // two buffers are misaligned, whether types are freed as soon as the call is made, and whether
  // the call gets MPI_BOTTOM and absolute addresses.
  std::vector<LayoutPointer> gives{}, gets{};
  std::uint64_t apart = 0;
  std::size_t misaligned[2] = {0, 0};
  bool frees_types = false;
  bool absolute = false;
  // Makes the call by the MPI's own function.
  bool native = false;
};

// How a call has to be served: by Sumac, or by the MPI where the rules say so, or by that alone.
enum class Served { anyhow, by_sumac, by_rule, by_mpi };

inline bool is_served(Served by) {
  const bool left = was_handed_down("the rules prefer the MPI here");
  if (by == Served::by_mpi) return left || std::strcmp(path(), "local") == 0;
  return by == Served::anyhow || was_taken() || (by == Served::by_rule && left);
}

class Call {
 public:
  explicit Call(const Case& c, const Group& group = world()) : case_(c), group_(group) {
    const auto p = static_cast<std::size_t>(exchanges(c.what) || gathers(c.what) ? size() : 1);
    const LayoutPointer usual = plain(*c.numbers);
    const auto layout = [&](const std::vector<LayoutPointer>& of, std::size_t b) {
      return of.empty() ? usual : of[b % of.size()];
    };
    for (std::size_t b = 0; b < (exchanges(c.what) ? p : 1); ++b) {
      send_.add(sends_apart() ? given(b) : 0, layout(c.gives, b));
    }
    for (std::size_t b = 0; b < p; ++b) {
      receive_.add(gets() ? got(b) : 0, layout(c.gets, b));
    }
    if (c.apart && exchanges(c.what) && listed(c.what)) send_.place_apart(c.apart + 1);
    if (c.apart && listed(c.what) && !reduces(c.what)) receive_.place_apart(c.apart);
    const auto own = static_cast<unsigned char>(world_rank());
    send_.allocate(*c.numbers, 0, c.misaligned[0], 0x5a ^ own);
    receive_.allocate(*c.numbers, in_place() && scatters(c.what) ? total() : 0, c.misaligned[1],
                      0xa5 ^ own);
    fill(c.seed);
  }
  ~Call() {
    if (case_.form == Form::persistent && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  MPI_Request request = MPI_REQUEST_NULL;

  // Memory of the caller's instead: as many bytes as these say.
  std::size_t send_bytes() const { return send_.bytes(); }
  std::size_t receive_bytes() const { return receive_.bytes(); }
  void use(void* send, void* receive) {
    send_.use(static_cast<unsigned char*>(send));
    receive_.use(static_cast<unsigned char*>(receive));
    fill(case_.seed);
  }

  // Writes this rank's input of that seed, and notes what must come out.
  void fill(std::uint64_t seed) {
    case_.seed = seed;
    send_.clear();
    receive_.clear();
    put_input();
    send_.store();
    receive_.store();
    put_result();
  }

  // Makes the call, or begins it; a persistent one is only initialised.
  int begin() {
    const bool in_bytes = case_.what == What::alltoallw;
    send_.make_arguments(in_bytes, case_.absolute);
    receive_.make_arguments(in_bytes, case_.absolute);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (case_.absolute && is_bcast(case_.what)) made = make_absolute();
    if (case_.form != Form::blocking) forget_path();
    const int error = case_.large
                          ? make(send_.large_counts, receive_.large_counts, send_.large_places,
                                 receive_.large_places)
                          : make(send_.counts, receive_.counts, send_.places, receive_.places);
    if (made != MPI_DATATYPE_NULL) MPI_Type_free(&made);
    if (case_.frees_types) free_types();
    return error;
  }
  void free_types() {
    for (const auto* all : {&send_.blocks, &receive_.blocks}) {
      for (const CallSide::Block& block : *all) block.layout->free();
    }
  }
  void start() {
    if (case_.form == Form::persistent) CHECK(MPI_Start(&request) == MPI_SUCCESS);
  }
  void wait() {
    if (case_.form != Form::blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  // Makes the call and checks it; a persistent one is started twice, with different data.
  bool run(Served by = Served::by_rule) {
    step("%s", text().c_str());
    CHECK(begin() == MPI_SUCCESS, "%s", text().c_str());
    if (case_.form != Form::blocking && (by == Served::by_sumac || by == Served::by_rule)) {
      expect_taken_nonblocking(step_text);
    } else if (!only_linked && !case_.native) {
      CHECK(is_served(by), "%s: path '%s'", text().c_str(), path());
    }
    start();
    wait();
    const bool right = check();
    if (case_.form != Form::persistent) return right;
    fill(case_.seed + 1);
    start();
    wait();
    return check() && right;
  }

  // The result must be right, and nothing else changed.
  bool check(const char* how = "") {
    const bool received = check_received(how);
    return check_sent(how) && received;
  }
  bool check_received(const char* how = "") { return check_side(receive_, "received", how); }
  bool check_sent(const char* how = "") { return check_side(send_, "sent", how); }
  bool is_right() { return differs(receive_) == CallSide::kNone; }

  // What a program needs to make the call again.
  std::string text() const {
    std::string all = function_name(name_of(case_.what), case_.form, case_.large) + "(";
    for (std::size_t i = 0; i < std::min<std::size_t>(case_.counts.size(), 25); ++i) {
      if (i > 0) all += ',';
      all += std::to_string(case_.counts[i]);
    }
    all += " " + case_.numbers->name + ")";
    if (rooted(case_.what)) all += ", root " + std::to_string(case_.root);
    if (case_.in_place) all += ", in place";
    if (case_.native) all += ", the MPI's own";
    for (const auto* layouts : {&case_.gives, &case_.gets}) {
      for (const LayoutPointer& l : *layouts) {
        const char* const side = layouts == &case_.gives ? ", gives " : ", gets ";
        if (!l->name.empty()) all += side + l->name.substr(0, 90);
      }
    }
    if (case_.apart) all += ", apart";
    if (case_.absolute) all += ", at absolute addresses";
    if (case_.frees_types) all += ", types freed";
    if (case_.misaligned[0] || case_.misaligned[1]) {
      all += ", misaligned by " + std::to_string(case_.misaligned[0]) + " and " +
             std::to_string(case_.misaligned[1]);
    }
    all += ", seed " + std::to_string(case_.seed) + ", ranks";
    for (const int member : group_.members) all += " " + std::to_string(member);
    return all;
  }

  const Case& of() const { return case_; }
  const Group& group() const { return group_; }
  unsigned char* received() { return receive_.address(); }
  bool gets() const {
    return sumac::gets_result(row_of(case_.what).of.collective, me(), case_.root);
  }

 private:
  int size() const { return group_.size(); }
  int me() const { return group_.rank; }
  std::size_t world_rank() const {
    return static_cast<std::size_t>(group_.members[static_cast<std::size_t>(me())]);
  }
  bool in_place() const {
    return case_.in_place && gets() && !is_bcast(case_.what) && case_.what != What::reduce_local;
  }
  bool sends_apart() const {
    return row_of(case_.what).of.has_data && !is_bcast(case_.what) && !in_place();
  }
  // Elements that rank i gives rank j, or those of rank i's part.
  std::size_t count(std::size_t i, std::size_t j = 0) const {
    if (case_.counts.size() == 1) return case_.counts[0];
    return case_.counts[exchanges(case_.what) ? i * static_cast<std::size_t>(size()) + j : i];
  }
  std::size_t begin_of(std::size_t part) const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < part; ++i) sum += count(i);
    return sum;
  }
  std::size_t total() const {
    return scatters(case_.what) ? begin_of(static_cast<std::size_t>(size())) : case_.counts[0];
  }
  std::size_t own() const { return static_cast<std::size_t>(me()); }
  std::size_t given(std::size_t block) const {
    if (exchanges(case_.what)) return count(own(), block);
    return gathers(case_.what) ? count(own()) : total();
  }
  std::size_t got(std::size_t block) const {
    if (exchanges(case_.what)) return count(block, own());
    if (gathers(case_.what)) return count(block);
    return scatters(case_.what) ? count(own()) : total();
  }

  // Numbers that name inputs: those of ranks, or of pairs of ranks.
  int giver(std::size_t rank_there) const { return group_.members[rank_there]; }
  int giver(std::size_t from, std::size_t to) const {
    return giver(from) * ranks + giver(to) + 1000;
  }
  void put(CallSide& side, std::size_t block, std::size_t count, Givers givers,
           std::size_t first = 0) {
    side.put(*case_.numbers, block, count, givers, first, case_.seed);
  }
  void put_input() {
    const int mine[] = {giver(own())}, second[] = {giver(own()) + 1};
    CallSide& side = in_place() ? receive_ : send_;
    if (!row_of(case_.what).of.has_data) return;
    if (is_bcast(case_.what)) {
      if (me() == case_.root) put(receive_, 0, total(), mine);
    } else if (exchanges(case_.what)) {
      for (std::size_t b = 0; b < side.blocks.size(); ++b) {
        const int pair[] = {giver(own(), b)};
        put(side, b, given(b), pair);
      }
    } else {
      put(side, in_place() && gathers(case_.what) ? own() : 0, given(0), mine);
    }
    if (case_.what == What::reduce_local) put(receive_, 0, total(), second);
  }
  void put_result() {
    if (!gets()) return;
    for (std::size_t b = 0; b < receive_.blocks.size(); ++b) {
      const int both[] = {giver(own()), giver(own()) + 1};
      const int one[] = {exchanges(case_.what) ? giver(b, own())
                         : gathers(case_.what) ? giver(b)
                                               : giver(static_cast<std::size_t>(case_.root))};
      const std::size_t first = scatters(case_.what) ? begin_of(own()) : 0;
      put(receive_, b, got(b),
          case_.what == What::reduce_local ? Givers(both)
          : reduces(case_.what)            ? Givers(group_.members)
                                           : Givers(one),
          first);
    }
  }
  long differs(CallSide& side) {
    if (case_.numbers->stands_for && &side == &receive_ && gets() &&
        side.differs() != CallSide::kNone) {
      for (std::size_t b = 0; b < side.blocks.size(); ++b) side.forgive(*case_.numbers, b, got(b));
    }
    return side.differs();
  }
  bool check_side(CallSide& side, const char* which, const char* how) {
    const long byte = differs(side);
    if (byte == CallSide::kNone) return CHECK(true);
    return CHECK(false, "%s %s byte %ld of %zu: %02x, not %02x; path '%s' %s", text().c_str(),
                 which, byte, side.bytes(), side.address()[byte], side.expected(byte), path(), how);
  }

  MPI_Datatype make_absolute() {
    MPI_Datatype made;
    MPI_Aint address = 0;
    MPI_Get_address(receive_.given(), &address);
    MPI_Type_create_hindexed(1, &receive_.counts[0], &address, receive_.types[0], &made);
    MPI_Type_commit(&made);
    receive_.types[0] = made;
    receive_.counts[0] = 1;
    receive_.large_counts[0] = 1;
    return made;
  }
  template <class... Arguments>
  int make_by_name(Arguments... arguments) {
    return call_in(case_.native, std::string(name_of(case_.what)) + (case_.large ? "_c" : ""),
                   case_.form, group_.comm, &request, arguments...);
  }
  template <class Count, class Place>
  int make(const std::vector<Count>& out, const std::vector<Count>& in,
           const std::vector<Place>& out_places, const std::vector<Place>& in_places) {
    // Where there is nothing to give or to get there need be no buffer, but there may be one.
    const auto buffer = [this](CallSide& side, bool used) -> void* {
      return case_.absolute ? MPI_BOTTOM : used || case_.seed % 2 ? side.given() : nullptr;
    };
    const void* from = buffer(send_, !send_.is_empty() || !exchanges(case_.what));
    void* const into = buffer(receive_, gets() && (!receive_.is_empty() || !exchanges(case_.what)));
    if (in_place()) from = MPI_IN_PLACE;
    const MPI_Datatype of = case_.numbers->type, to = receive_.types[0];
    const MPI_Op op = case_.numbers->op;
    // Where they mean nothing there need be none.
    const Count* const outs = in_place() ? nullptr : out.data();
    const Place* const at = in_place() ? nullptr : out_places.data();
    const MPI_Datatype* const types = in_place() ? nullptr : send_.types.data();
    const MPI_Datatype* const receive_types = receive_.types.data();
    const auto n = static_cast<Count>(total());
    const Count *const ins = in.data(), *const parts = part_counts(Count());
    switch (case_.what) {
      case What::barrier:
        return make_by_name();
      case What::bcast:
        return make_by_name(into, in[0], to, case_.root);
      case What::reduce_local:
        return reduce_local(from, into, n);
      case What::reduce:
        return make_by_name(from, into, n, of, op, case_.root);
      case What::allreduce:
        return make_by_name(from, into, n, of, op);
      case What::reduce_scatter_block:
        return make_by_name(from, into, in[0], of, op);
      case What::reduce_scatter:
        return make_by_name(from, into, parts, of, op);
      case What::allgather:
      case What::alltoall:
        return make_by_name(from, out[0], send_.types[0], into, in[0], to);
      case What::allgatherv:
        return make_by_name(from, out[0], send_.types[0], into, ins, in_places.data(), to);
      case What::alltoallv:
        return make_by_name(from, outs, at, send_.types[0], into, ins, in_places.data(), to);
      case What::alltoallw:
        return make_by_name(from, outs, at, types, into, ins, in_places.data(), receive_types);
    }
    return MPI_ERR_OTHER;
  }
  int reduce_local(const void* from, void* into, MPI_Count n) const {
    auto* const function = case_.native ? native().Reduce_local : MPI_Reduce_local;
    return function(from, into, static_cast<int>(n), case_.numbers->type, case_.numbers->op);
  }
  const int* part_counts(int) {
    parts_.clear();
    for (int r = 0; r < size(); ++r) {
      parts_.push_back(static_cast<int>(count(static_cast<std::size_t>(r))));
    }
    return parts_.data();
  }
  const MPI_Count* part_counts(MPI_Count) {
    part_counts(0);
    large_parts_.assign(parts_.begin(), parts_.end());
    return large_parts_.data();
  }

  Case case_;
  Group group_;
  CallSide send_, receive_;
  std::vector<int> parts_;
  std::vector<MPI_Count> large_parts_;
};

inline bool run(const Case& c, const Group& group = world(), Served by = Served::by_rule) {
  return Call(c, group).run(by);
}

// Every combination of what varies. `each(case, number)` may change or leave out a case, of which
// the number is also the seed.
struct Sweep {
  std::vector<What> whats;
  std::vector<const Numbers*> numbers{&ints()};
  std::vector<std::size_t> counts{1};
  std::vector<Form> forms{Form::blocking};
  std::vector<bool> in_place{false}, large{false};
  std::vector<int> roots{0};  // of calls that have one

  template <class Each>
  void for_each(Each each) const {
    std::uint64_t number = 0;
    for (const What what : whats) {
      for (const Numbers* n : numbers) {
        for (const std::size_t count : counts) {
          for (const Form form : forms) {
            for (const bool place : in_place) {
              for (const bool with_large : large) {
                for (const int root : roots) {
                  if (!rooted(what) && root != roots[0]) continue;
                  ++number;
                  Case c{what, n, {count}, root, form, place, with_large, number};
                  each(c, number);
                }
              }
            }
          }
        }
      }
    }
  }
};

}  // namespace test
