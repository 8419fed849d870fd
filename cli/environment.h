// SPDX-License-Identifier: BSD-3-Clause
// The environment that `sumac exec` hands to the program.
#pragma once

#include "config/site.h"

// Puts one NAME=VALUE, whose name may be in any case, into the environment as SUMAC_NAME. Returns
// -1 if it does not have this form.
int apply_setting(const char* setting);

// Reports a NAME=VALUE of the command line whose name is no option, or whose value is bad. Returns
// the number of problems, or -1 if it does not have this form.
int check_setting(const char* setting);

// Puts one NAME=VALUE into the environment; a NAME alone must be set there. Returns -1 otherwise.
int apply_variable(const char* setting);

// Reads the site's files, of which one lies below the prefix of libsumac.so ("": there is none).
const struct sumac_site* read_site(const char* library);

// The setting of an option that counts in this environment.
struct sumac_setting setting_of(const struct sumac_site* site, const char* name);

// Gives the variable of an option the value that counts, for programs that read the environment
// alone.
void set_variable(const struct sumac_site* site, const char* name);

// Reports every SUMAC_* variable that is unknown or has a bad value. Returns their number.
int check_environment(const struct sumac_site* site);

// Appends `library` to LD_PRELOAD, unless it is there already. Returns -1 if its path contains a
// space or a colon, which LD_PRELOAD does not allow, or if there is no memory.
int add_preload(const char* library);

// Lets programs start that were compiled with AddressSanitizer, whose shared run-time library
// demands to be the first one of the process. Sumac in front of it does no harm, since it defines
// none of the functions that the sanitizer does. (That library in front of Sumac would get into all
// children of the program.) Returns -1 if there is no memory.
int allow_sanitizer(void);
