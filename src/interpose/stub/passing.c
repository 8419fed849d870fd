// SPDX-License-Identifier: BSD-3-Clause
// Some calls find ways past Sumac. A tool behind Sumac that wraps MPI_X and does not refer to
// PMPI_X looks the next function up itself, and finds the MPI's; and the loader binds objects that
// were opened with RTLD_DEEPBIND to the MPI.
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "interpose/stub/internal.h"

// The loaded objects refer to functions by name, and the loader has bound each name to something.
// This is called for such a reference to a function of MPI's. `bound` is where a call by it would
// go, or, as long as the loader has not bound it, somewhere in the object itself.
typedef bool (*reference_fn)(const char* name, const void* bound, void* context);

#if defined(__x86_64__)
enum { kAddress = R_X86_64_64, kData = R_X86_64_GLOB_DAT, kCall = R_X86_64_JUMP_SLOT };
#elif defined(__aarch64__)
enum { kAddress = R_AARCH64_ABS64, kData = R_AARCH64_GLOB_DAT, kCall = R_AARCH64_JUMP_SLOT };
#endif

// These parts of an object's dynamic section hold its references.
struct dynamic {
  uintptr_t base;
  const ElfW(Sym) * symbols;
  const char* strings;
  const ElfW(Rela) * data;
  const ElfW(Rela) * calls;
  size_t data_bytes, calls_bytes;
};

// The file has offsets of which the loader has made addresses, except in the kernel's own object,
// which refers to nothing.
static bool read_dynamic(const struct dl_phdr_info* info, struct dynamic* found) {
  const ElfW(Dyn)* entry = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type == PT_DYNAMIC) {
      entry = (const ElfW(Dyn)*)(info->dlpi_addr + header->p_vaddr);
    }
  }
  memset(found, 0, sizeof *found);
  found->base = info->dlpi_addr;
  for (; entry != NULL && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) found->symbols = (const void*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) found->strings = (const void*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELA) found->data = (const void*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) found->data_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) found->calls = (const void*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) found->calls_bytes = entry->d_un.d_val;
  }
  return found->symbols != NULL && found->strings != NULL &&
         (uintptr_t)found->symbols > found->base;
}

struct question {
  const void* address;  // the object to ask about or, with `all`, to leave out
  bool all, answer;
  reference_fn ask;
  void* context;
};

static void ask_of(const struct dynamic* object, const ElfW(Rela) * references, size_t bytes,
                   struct question* question) {
  for (size_t i = 0; i < bytes / sizeof *references && !question->answer; ++i) {
    const ElfW(Rela)* reference = &references[i];
    const unsigned long kind = ELF64_R_TYPE(reference->r_info);
    if (kind != kAddress && kind != kData && kind != kCall) continue;
    const ElfW(Sym)* symbol = &object->symbols[ELF64_R_SYM(reference->r_info)];
    const char* name = object->strings + symbol->st_name;
    if (symbol->st_shndx != SHN_UNDEF || strncmp(name + (*name == 'P'), "MPI", 3) != 0) continue;
    const void* bound = *(const void* const*)(object->base + reference->r_offset);
    question->answer = question->ask(name, bound, question->context);
  }
}

static bool lies_in(const struct dl_phdr_info* info, const void* address) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    const uintptr_t low = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_LOAD && (uintptr_t)address - low < header->p_memsz) return true;
  }
  return false;
}

static int ask_object(struct dl_phdr_info* info, size_t size, void* context) {
  (void)size;
  struct question* question = context;
  if (lies_in(info, question->address) == question->all) return 0;
  if (question->all && lies_in(info, (const void*)(uintptr_t)&stub_collectives_pass_by)) return 0;
  struct dynamic object;
  if (!read_dynamic(info, &object)) return 0;
  ask_of(&object, object.calls, object.calls_bytes, question);
  ask_of(&object, object.data, object.data_bytes, question);
  return question->answer;
}

// Asks about the references of the object that `address` is in. Returns true at the first one for
// which `ask` does.
static bool refers(const void* address, reference_fn ask, void* context) {
  struct question question = {address, false, false, ask, context};
  dl_iterate_phdr(ask_object, &question);
  return question.answer;
}

// Does the same for all objects, except for the one that `except` is in and libsumac.so.
static bool any_refers(const void* except, reference_fn ask, void* context) {
  struct question question = {except, true, false, ask, context};
  dl_iterate_phdr(ask_object, &question);
  return question.answer;
}

enum { kFirstCompletion = SUMAC_CALL_Start, kLastCompletion = SUMAC_CALL_Cancel };

static bool is_named(const char* name, const void* bound, void* wanted) {
  (void)bound;
  return strcmp(name, wanted) == 0;
}

static bool passes_by(const void* tool, int slot) {
  char name[kLongestName], wanted[kLongestName + 1];
  if (tool == NULL) return false;
  snprintf(wanted, sizeof wanted, "P%s", stub_name(name, slot));
  return !refers(tool, is_named, wanted);
}

const char* stub_collectives_pass_by(void* const* before) {
  for (int slot = 0; slot < kPublicSlots; ++slot) {
    const bool collective = slot < SUMAC_CALL_Reduce_local || slot >= SUMAC_NUM_CALLS;
    Dl_info tool;
    if (!collective || !passes_by(before[slot], slot)) continue;
    return dladdr(before[slot], &tool) != 0 ? tool.dli_fname : "a tool";
  }
  return NULL;
}

static bool is_completion(const char* name) {
  for (int call = kFirstCompletion; call <= kLastCompletion; ++call) {
    if (strcmp(name + (*name == 'P'), stub_call_names[call]) == 0) return true;
  }
  return false;
}

static bool is_bound_to_mpi(const char* name, const void* bound, void* mpi) {
  return stub_is_of_mpi(mpi, bound) && is_completion(name);
}

// A request of Sumac's is one of the MPI's, but the MPI learns of its end only from the call that
// completes it. If that call went past Sumac, the request would never end.
bool stub_requests_pass_by(struct mpi_library* mpi, void* const* before) {
  for (int slot = kFirstCompletion; slot <= kLastCompletion; ++slot) {
    if (passes_by(before[slot], slot)) return true;
  }
  return any_refers((const void*)mpi->low, is_bound_to_mpi, mpi);
}

bool stub_gives_request(int call) {
  return call == SUMAC_CALL_Isend || call == SUMAC_CALL_Irecv ||
         call == SUMAC_CALL_Ineighbor_alltoallw;
}
