// SPDX-License-Identifier: BSD-3-Clause
#include "config/site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/switch_word.h"

static const char kDisable[] = "DISABLE", kLocked[] = "LOCKED", kPrefix[] = "SUMAC_";
static const char kBlanks[] = " \t\r\v\f";

static bool is_blank(char c) { return c != '\0' && strchr(kBlanks, c) != NULL; }

// These two do what <ctype.h> does in the C locale: the program may have set another one.
static char capital(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

static bool is_of_name(char c) {
  const char large = capital(c);
  return (large >= 'A' && large <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t length_of_name(const char* text) {
  size_t length = 0;
  while (is_of_name(text[length])) ++length;
  return length;
}

static size_t length_of_prefix(const char* text) {
  size_t length = 0;
  while (kPrefix[length] != '\0' && capital(text[length]) == kPrefix[length]) ++length;
  return kPrefix[length] == '\0' ? length : 0;
}

// Writes a name of `length` characters in capitals and without its prefix. Longer names are cut
// off.
static void bare_name(char* name, size_t size, const char* text, size_t length) {
  size_t used = 0;
  for (size_t i = length_of_prefix(text); i < length && used + 1 < size; ++i) {
    name[used++] = capital(text[i]);
  }
  name[used] = '\0';
}

static const char* keep(struct sumac_site* site, const char* text) {
  const size_t size = strlen(text) + 1;
  if (size > sizeof site->text - site->used) return NULL;
  char* kept = memcpy(site->text + site->used, text, size);
  site->used += size;
  return kept;
}

static bool is_full(const struct sumac_site* site) { return site->count == kSumacSiteEntries; }

// The last entry says that there is no room for what follows.
static void add(struct sumac_site* site, const char* name, const char* value, const char* file,
                int line) {
  if (is_full(site)) return;
  struct sumac_site_entry* entry = &site->entries[site->count++];
  *entry = (struct sumac_site_entry){NULL, value, file, line};
  if (name == NULL) return;
  entry->name = keep(site, name);
  entry->value = keep(site, value);
  if (entry->value != NULL && !is_full(site)) return;
  *entry = (struct sumac_site_entry){NULL, "more settings than Sumac reads", file, line};
  site->count = kSumacSiteEntries;
}

// Takes the quotes away as a shell does, and a comment after a blank. Returns false if a quote is
// not closed.
static bool unquote(char* text) {
  char *end = text, *kept = text;  // `kept` is the end without the blanks that nothing quotes
  char quote = '\0';
  bool after_blank = true;
  for (; *text != '\0'; ++text) {
    const bool is_open = quote != '\0', blank = !is_open && is_blank(*text);
    if (!is_open && after_blank && *text == '#') break;
    after_blank = blank;
    if (is_open ? *text == quote : *text == '\'' || *text == '"') {
      quote = is_open ? '\0' : *text;
    } else {
      if (!is_open && *text == '\\' && text[1] != '\0') ++text;
      *end++ = *text;
    }
    if (!blank) kept = end;
  }
  *kept = '\0';
  return quote == '\0';
}

static void read_line(struct sumac_site* site, char* text, const char* file, int line) {
  static const char kExport[] = "export";
  char name[64];
  text += strspn(text, kBlanks);
  if (*text == '\0' || *text == '#') return;
  if (strncmp(text, kExport, sizeof kExport - 1) == 0 && is_blank(text[sizeof kExport - 1])) {
    text += sizeof kExport;
    text += strspn(text, kBlanks);
  }
  const size_t length = length_of_name(text);
  char* value = text + length + strspn(text + length, kBlanks);
  if (length == 0 || *value != '=') {
    add(site, NULL, "the line is not NAME = value", file, line);
    return;
  }
  bare_name(name, sizeof name, text, length);
  value += 1 + strspn(value + 1, kBlanks);
  if (unquote(value)) {
    add(site, name, value, file, line);
  } else {
    add(site, NULL, "a quote is not closed", file, line);
  }
}

struct reader {
  int descriptor;
  size_t at, filled;
  char buffer[512];
};

// Returns the next character, or -1 at the end of the file.
static int next_character(struct reader* reader) {
  while (reader->at == reader->filled) {
    const ssize_t got = read(reader->descriptor, reader->buffer, sizeof reader->buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    reader->at = 0;
    reader->filled = (size_t)got;
  }
  return (unsigned char)reader->buffer[reader->at++];
}

static void read_lines(struct sumac_site* site, int descriptor, const char* file) {
  struct reader reader = {.descriptor = descriptor};
  char text[kSumacSiteLine];
  int c = 0;
  for (int line = 1; c >= 0 && !is_full(site); ++line) {
    size_t length = 0;
    while ((c = next_character(&reader)) >= 0 && c != '\n') {
      if (length < sizeof text) text[length] = (char)c;
      ++length;
    }
    if (length >= sizeof text) {
      add(site, NULL, "the line is too long", file, line);
      continue;
    }
    text[length] = '\0';
    read_line(site, text, file, line);
  }
}

// Reads one file. A file that is not there costs one call of the kernel.
static void read_file(struct sumac_site* site, const char* path) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) return;
  const char* file = keep(site, path);
  struct stat status;
  if (file == NULL) {
    add(site, NULL, "more settings than Sumac reads", SUMAC_SITE_FILE, 0);
  } else if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    add(site, NULL, "it cannot be read", file, 0);
  } else {
    read_lines(site, descriptor, file);
  }
  if (descriptor >= 0) close(descriptor);
}

static void cut_last(char* path) {
  char* slash = strrchr(path, '/');
  if (slash != NULL) *slash = '\0';
}

static bool is_library_folder(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL && (strcmp(slash, "/lib") == 0 || strcmp(slash, "/lib64") == 0);
}

// Composes the path of the prefix's file. libsumac.so lies in lib, lib64, or a folder of these;
// what lies elsewhere, in a temporary folder for instance, has no prefix.
static bool find_prefix_file(char* path, size_t size, const char* library_folder) {
  static const char kPlace[] = "/etc/sumac.conf";
  if (library_folder == NULL || strlen(library_folder) + sizeof kPlace > size) return false;
  strcpy(path, library_folder);
  if (!is_library_folder(path)) cut_last(path);
  if (!is_library_folder(path)) return false;
  cut_last(path);
  strcat(path, kPlace);
  return true;
}

void sumac_site_read(struct sumac_site* site, const char* system_file, const char* library_folder) {
  char path[1024];
  site->count = site->used = 0;
  read_file(site, system_file);
  if (find_prefix_file(path, sizeof path, library_folder) && strcmp(path, system_file) != 0) {
    read_file(site, path);
  }
}

void sumac_site_locked(const struct sumac_site_entry* entry,
                       void (*each)(void* context, const char* name), void* context) {
  if (entry->name == NULL || strcmp(entry->name, kLocked) != 0) return;
  for (const char* text = entry->value; *text != '\0';) {
    char name[64];
    const size_t length = strcspn(text, " \t,");
    bare_name(name, sizeof name, text, length);
    if (length > 0) each(context, name);
    text += length;
    text += strspn(text, " \t,");
  }
}

struct search {
  const char* name;
  bool found;
};

static void compare(void* context, const char* name) {
  struct search* search = context;
  search->found |= strcmp(search->name, name) == 0;
}

const struct sumac_site_entry* sumac_site_lock(const struct sumac_site* site, const char* name) {
  struct search search = {name, false};
  for (size_t i = 0; site != NULL && i < site->count; ++i) {
    sumac_site_locked(&site->entries[i], compare, &search);
    if (search.found) return &site->entries[i];
  }
  return NULL;
}

// Returns the last line with a value of an option; of `disable`, the one that says yes.
static const struct sumac_site_entry* find(const struct sumac_site* site, const char* name) {
  const struct sumac_site_entry* found = NULL;
  for (size_t i = 0; site != NULL && i < site->count; ++i) {
    const struct sumac_site_entry* entry = &site->entries[i];
    if (entry->name == NULL || strcmp(entry->name, name) != 0) continue;
    const bool yes = sumac_switch_word(entry->value) == 1;
    if (strcmp(name, kDisable) == 0 && yes) return entry;
    found = entry->value[0] != '\0' ? entry : NULL;
  }
  return found;
}

struct sumac_setting sumac_site_setting(const struct sumac_site* site, const char* name,
                                        const char* own) {
  const struct sumac_site_entry* entry = find(site, name);
  const bool off =
      strcmp(name, kDisable) == 0 && entry != NULL && sumac_switch_word(entry->value) == 1;
  const bool is_own = own != NULL && own[0] != '\0' && !off && sumac_site_lock(site, name) == NULL;
  if (is_own) return (struct sumac_setting){own, NULL};
  return (struct sumac_setting){entry != NULL ? entry->value : NULL, entry};
}
