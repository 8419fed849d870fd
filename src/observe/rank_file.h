// SPDX-License-Identifier: BSD-3-Clause
// The file that one rank writes for people: in a folder of theirs, for its owner alone, and never
// over a file or through a link that is there.
#pragma once

#include <cstddef>
#include <string>

namespace sumac {

// The absolute path of a folder that files can be made in, since the program may change its working
// directory. Empty, with the cause in errno, where none can.
std::string writable_folder(const char* folder);

// Makes FOLDER/<name> anew, mode 0600. Returns its descriptor; -1, with the cause in errno, where
// it exists or cannot be made.
int make_own_file(const std::string& folder, const std::string& name);
// The same in an open folder.
int make_own_file(int folder, const std::string& name);

// Returns false, with the cause in errno, where not all of it could be written.
bool write_all(int file, const void* data, std::size_t size);

}  // namespace sumac
