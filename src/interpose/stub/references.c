// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/stub/references.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

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
  if (question->all && lies_in(info, (const void*)(uintptr_t)&stub_any_refers)) return 0;
  struct dynamic object;
  if (!read_dynamic(info, &object)) return 0;
  ask_of(&object, object.calls, object.calls_bytes, question);
  ask_of(&object, object.data, object.data_bytes, question);
  return question->answer;
}

bool stub_refers(const void* address, reference_fn ask, void* context) {
  struct question question = {address, false, false, ask, context};
  dl_iterate_phdr(ask_object, &question);
  return question.answer;
}

bool stub_any_refers(const void* except, reference_fn ask, void* context) {
  struct question question = {except, true, false, ask, context};
  dl_iterate_phdr(ask_object, &question);
  return question.answer;
}
