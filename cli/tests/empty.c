// SPDX-License-Identifier: BSD-3-Clause
// The contents of a library of which only the name matters.
extern int cli_test_nothing;
int cli_test_nothing;
