// SPDX-License-Identifier: BSD-3-Clause
// XPMEM is a kernel module that shows a process's pages to other processes as they are: nothing is
// copied, replaced or registered. Where it is loaded, ranks see all of each other's memory.
//
// Idea   As Open MPI's smsc/xpmem and XHC do it, each process offers its whole address space once.
//        The others attach windows of it (mapped_memory.h), whatever is mapped there
// Cost   Each page that a rank reaches for the first time takes a page fault, in which the module
//        looks the page up and holds it; pages are of 4 KiB there. A window costs addresses only
// Stale  An attached window needs no registration that could become stale. The module (read in
//        hpc/xpmem: kernel/xpmem_mmu_notifier.c, xpmem_attach.c, xpmem_pfn.c) takes its entries out
//        of all windows whenever the owner unmaps, moves, protects or drops pages, or forks, before
//        the owner's system call returns; the next access finds the page that is there by then.
//        Nobody else can replace a page that a window shows, since the module holds it. Where
//        nothing is mapped by then, or nothing that the kernel can look up, an access is a SIGBUS:
//        so owners look at their buffers before each use (interpose/process/attachable.h)
// Needs  libxpmem.so.0, which is opened while the program runs; both processes of one user
//
// The module ends all windows of a process that closes the library's descriptor, as programs do
// that close all; so works() must be asked before each use. A window may only be unmapped by the
// library: the module kills a process that does so itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "transport/mapped_memory.h"

namespace sumac {

// The names and numbers are those of <xpmem.h>.
struct XpmemLibrary {
  struct Place {
    std::int64_t permit;
    off_t offset;
  };
  int (*version)();
  std::int64_t (*make)(void* address, std::size_t bytes, int permit_type, void* permit);
  std::int64_t (*get)(std::int64_t segment, int flags, int permit_type, void* permit);
  int (*release)(std::int64_t permit);
  void* (*attach)(Place place, std::size_t bytes, void* address);
  int (*detach)(void* address);
};

class Xpmem {
 public:
  // Opens the library, once, and offers this process's memory. Returns null if there is no XPMEM.
  // `stand_in` is the path of a library for tests; null or "": there is none.
  static const Xpmem* open(const char* stand_in);
  // Returns what open() has returned; null if it was not called.
  static const Xpmem* opened();

  // Returns by which number other processes find this one's memory; it is positive.
  std::int64_t segment() const { return segment_; }
  // Returns false once the program has closed the library's descriptor, and in the child of a fork.
  bool works() const;
  bool is_stand_in() const { return stand_in_; }

  // Returns windows on the processes with these segments; those that may not be seen have none.
  AllWindows windows_on(const std::vector<std::int64_t>& segments, int own_rank) const;

 private:
  Xpmem() = default;
  static const Xpmem* open_now(const char* stand_in);

  XpmemLibrary library_ = {};
  std::int64_t segment_ = 0;
  pid_t process_ = 0;
  bool stand_in_ = false;
};

}  // namespace sumac
