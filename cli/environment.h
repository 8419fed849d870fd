// SPDX-License-Identifier: BSD-3-Clause
// The environment that `sumac exec` hands to the program.
#pragma once

// Puts one NAME=VALUE into the environment as SUMAC_NAME. Returns -1 when it has not that form.
int apply_setting(const char* setting);

// Puts one NAME=VALUE into the environment as it is; a NAME alone has to be there. Else -1.
int apply_variable(const char* setting);

// Reports every SUMAC_* variable that is unknown or has a bad value. Returns how many there are.
int check_environment(void);

// Adds `library` to LD_PRELOAD behind what is there, unless it is there already. Returns -1 when
// its path cannot be said there (it holds a space or a colon) or memory is out.
int add_preload(const char* library);
