// SPDX-License-Identifier: BSD-3-Clause
// A rank writes such a file for people: into a folder of theirs, readable by its owner alone, and
// never over an existing file or through a link.
#pragma once

#include <cstddef>
#include <string>

namespace sumac {

// Returns the absolute path of a folder that files can be made in, since the program may change its
// working directory. Returns an empty text, with the cause in errno, if no file can be made there.
std::string writable_folder(const char* folder);

// Makes FOLDER/<name> anew, mode 0600. Returns its descriptor, or -1, with the cause in errno, if
// the file exists or cannot be made.
int make_own_file(const std::string& folder, const std::string& name);
// Does the same in an open folder.
int make_own_file(int folder, const std::string& name);

// Returns false, with the cause in errno, if not everything could be written.
bool write_all(int file, const void* data, std::size_t size);

}  // namespace sumac
