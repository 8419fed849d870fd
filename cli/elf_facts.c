// SPDX-License-Identifier: BSD-3-Clause
// Reads no byte outside the file, even if its headers are wrong: read_at and string_at check each
// access.
#include "elf_facts.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
  const unsigned char* bytes;
  uint64_t size;
};

static int read_at(const struct image* image, uint64_t offset, void* to, uint64_t size) {
  if (offset > image->size || size > image->size - offset) return -1;
  memcpy(to, image->bytes + offset, size);
  return 0;
}

// The NUL-terminated string at `offset`, or "".
static const char* string_at(const struct image* image, uint64_t offset) {
  if (offset >= image->size) return "";
  const char* string = (const char*)image->bytes + offset;
  return memchr(string, '\0', image->size - offset) != NULL ? string : "";
}

static int read_header(const struct image* image, ElfW(Ehdr) * header) {
  static const uint16_t one = 1;
  const int little = *(const unsigned char*)&one == 1;
  if (read_at(image, 0, header, sizeof *header) != 0) return -1;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return -1;
  if (header->e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32)) return -1;
  return header->e_ident[EI_DATA] == (little ? ELFDATA2LSB : ELFDATA2MSB) ? 0 : -1;
}

static int read_segment(const struct image* image, const ElfW(Ehdr) * header, unsigned index,
                        ElfW(Phdr) * segment) {
  return read_at(image, header->e_phoff + (uint64_t)index * header->e_phentsize, segment,
                 sizeof *segment);
}

// The offset in the file of the byte that is loaded at `address`, or UINT64_MAX.
static uint64_t file_offset(const struct image* image, const ElfW(Ehdr) * header,
                            uint64_t address) {
  ElfW(Phdr) segment;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (read_segment(image, header, i, &segment) != 0 || segment.p_type != PT_LOAD) continue;
    if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  return UINT64_MAX;
}

static int ends_with(const char* text, const char* end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// Families by library version, since one family has many names: libmpi.so.12 (MPICH, Intel),
// libmpich.so.12 (Debian), libmpi_gnu_91.so.12 (Cray), libmpi_mpifh.so.40 (Open MPI's Fortran).
static const char* family_of(const char* library) {
  if (strncmp(library, "libmpi", 6) != 0) return NULL;
  if (strncmp(library, "libmpi_abi.so", 13) == 0) return "mpiabi";
  if (ends_with(library, ".so.40")) return "openmpi";
  return ends_with(library, ".so.12") ? "mpich" : NULL;
}

static void inspect_needed(const struct image* image, const ElfW(Ehdr) * header,
                           const ElfW(Phdr) * dynamic, struct elf_facts* facts) {
  ElfW(Dyn) entry;
  uint64_t strings = UINT64_MAX;
  const uint64_t count = dynamic->p_filesz / sizeof entry;
  for (uint64_t i = 0; i < count; ++i) {
    if (read_at(image, dynamic->p_offset + i * sizeof entry, &entry, sizeof entry) != 0) return;
    if (entry.d_tag == DT_STRTAB) strings = file_offset(image, header, entry.d_un.d_ptr);
  }
  if (strings >= image->size) return;
  for (uint64_t i = 0; i < count && facts->family == NULL; ++i) {
    if (read_at(image, dynamic->p_offset + i * sizeof entry, &entry, sizeof entry) != 0) return;
    if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= image->size) continue;
    const char* library = string_at(image, strings + entry.d_un.d_val);
    facts->family = family_of(library);
    snprintf(facts->mpi_library, sizeof facts->mpi_library, "%s", library);
  }
}

static void inspect_dynamic(const struct image* image, const ElfW(Ehdr) * header,
                            struct elf_facts* facts) {
  ElfW(Phdr) segment;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (read_segment(image, header, i, &segment) != 0) return;
    if (segment.p_type == PT_INTERP) facts->is_dynamic = 1;
    if (segment.p_type == PT_DYNAMIC) inspect_needed(image, header, &segment, facts);
  }
}

static int defines_mpi_init(const struct image* image, const ElfW(Shdr) * symbols,
                            const ElfW(Shdr) * strings) {
  static const char kName[] = "PMPI_Init";
  ElfW(Sym) symbol;
  for (uint64_t i = 0; i < symbols->sh_size / sizeof symbol; ++i) {
    if (read_at(image, symbols->sh_offset + i * sizeof symbol, &symbol, sizeof symbol) != 0) break;
    char name[sizeof kName];
    if (symbol.st_shndx == SHN_UNDEF || strings->sh_offset >= image->size ||
        read_at(image, strings->sh_offset + symbol.st_name, name, sizeof name) != 0) {
      continue;
    }
    if (memcmp(name, kName, sizeof kName) == 0) return 1;
  }
  return 0;
}

static int has_own_mpi(const struct image* image, const ElfW(Ehdr) * header) {
  ElfW(Shdr) section, strings;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const uint64_t table = header->e_shoff;
    if (read_at(image, table + (uint64_t)i * sizeof section, &section, sizeof section) != 0) break;
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (read_at(image, table + (uint64_t)section.sh_link * sizeof strings, &strings,
                sizeof strings) != 0) {
      continue;
    }
    if (defines_mpi_init(image, &section, &strings)) return 1;
  }
  return 0;
}

static void inspect_image(const struct image* image, struct elf_facts* facts) {
  ElfW(Ehdr) header;
  if (read_header(image, &header) != 0) return;
  facts->is_elf = 1;
  inspect_dynamic(image, &header, facts);
  if (facts->family == NULL) {
    facts->mpi_library[0] = '\0';
    facts->defines_mpi = has_own_mpi(image, &header);
  }
}

void inspect_executable(const char* path, struct elf_facts* facts) {
  memset(facts, 0, sizeof *facts);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    const uint64_t size = (uint64_t)status.st_size;
    void* bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      const struct image image = {bytes, size};
      inspect_image(&image, facts);
      munmap(bytes, size);
    }
  }
  close(file);
}
