// SPDX-License-Identifier: BSD-3-Clause
// The contents of a library that matters for its name alone.
extern int cli_test_nothing;
int cli_test_nothing;
