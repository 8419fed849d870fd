// SPDX-License-Identifier: BSD-3-Clause
// A site sets options for all of its users: in /etc/sumac.conf, and in etc/sumac.conf below the
// prefix in which libsumac.so lies. The files are read without an allocation and without the
// program's locale, because libsumac.so reads them in the program's first MPI call. This header is
// in C for the stub, the command and the library.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUMAC_SITE_FILE "/etc/sumac.conf"

enum { kSumacSiteEntries = 64, kSumacSiteText = 8192, kSumacSiteLine = 1024 };

// An entry is a line "NAME = value" of a file, as `sumac info options --file` writes them.
struct sumac_site_entry {
  const char* name;   // in capitals and without SUMAC_; NULL if the line is bad
  const char* value;  // without its quotes; what is wrong, if the line is bad
  const char* file;
  int line;  // 0: the file as a whole
};

// The struct holds its texts itself, so it must stay where it is.
struct sumac_site {
  struct sumac_site_entry entries[kSumacSiteEntries];
  size_t count, used;
  char text[kSumacSiteText];
};

// Reads both files, of which either may be missing. The entries of the prefix come last, since they
// count more. `system_file` is SUMAC_SITE_FILE, except in tests. `library_folder` is the folder of
// libsumac.so; NULL if it is not known.
void sumac_site_read(struct sumac_site* site, const char* system_file, const char* library_folder);

// Returns the line that lists an option in `locked = NAME NAME`, or NULL. `site` may be NULL.
const struct sumac_site_entry* sumac_site_lock(const struct sumac_site* site, const char* name);

// Calls `each` with every name that a line `locked = ...` lists, in capitals and without SUMAC_.
void sumac_site_locked(const struct sumac_site_entry* entry,
                       void (*each)(void* context, const char* name), void* context);

// The setting of an option that counts.
struct sumac_setting {
  const char* text;                      // NULL: the default
  const struct sumac_site_entry* entry;  // the line that it comes from; NULL: from no file
};
// Returns what counts for an option that the user has set to `own` (NULL or "": has not set). The
// user's value goes before a site's, except where the option is locked or a file has `disable =
// yes`. `site` may be NULL.
struct sumac_setting sumac_site_setting(const struct sumac_site* site, const char* name,
                                        const char* own);

#ifdef __cplusplus
}
#endif
