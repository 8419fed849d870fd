// SPDX-License-Identifier: BSD-3-Clause
// What the lines of a record refer to by number: communicators, datatypes, operations and shapes of
// calls. Each is defined by a line of its own before it is first used (docs/replay.md).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "observe/record_file.h"

namespace sumac {

// Numbers texts in the order in which they first occur.
class Numbered {
 public:
  // `kind`: the letter that the line of a definition begins with.
  Numbered(RecordFile& file, char kind) : file_(file), kind_(kind) {}
  unsigned find(const std::string& text);

 private:
  RecordFile& file_;
  const char kind_;
  std::unordered_map<std::string, unsigned> numbers_;
};

// All members require the recorder's lock. Handles that end are forgotten: the MPI tells.
class Definitions {
 public:
  explicit Definitions(RecordFile& file)
      : file_(file), types_(file, 't'), operations_(file, 'o'), shapes_(file, 's') {}

  struct Comm {
    unsigned number = 0;
    int size = 0, rank = 0;
    bool is_inter = false;
  };
  const Comm& communicator(MPI_Comm comm);
  unsigned type(MPI_Datatype type);
  unsigned operation(MPI_Op op);
  unsigned shape(const std::string& text) { return shapes_.find(text); }

  void forget_communicator(std::uintptr_t handle);
  void forget_type(std::uintptr_t handle) { known_types_.erase(handle); }

 private:
  RecordFile& file_;
  Numbered types_, operations_, shapes_;
  unsigned next_communicator_ = 0;
  std::unordered_map<std::uintptr_t, Comm> communicators_;
  std::unordered_map<std::uintptr_t, unsigned> known_types_;

  std::string type_text(MPI_Datatype type, int depth);
};

// The text of a communicator's `size` ranks in MPI_COMM_WORLD: "0-3,6". Empty where one is not in
// it.
std::string members_text(MPI_Comm comm, int size);

}  // namespace sumac
