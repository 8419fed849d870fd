# SPDX-License-Identifier: BSD-3-Clause
# Runs at installation, with SOURCE and FOLDER set: writes the pages into FOLDER, which may be
# relative to the prefix, and below DESTDIR. A link to a file that only the source has becomes the
# text of the link and the file's name, since it would lead nowhere.
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH FOLDER BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
set(pages README.md SECURITY.md CHANGELOG.md)
file(GLOB docs RELATIVE ${SOURCE} ${SOURCE}/docs/*.md)
foreach(page ${pages} ${docs})
  file(READ ${SOURCE}/${page} text)
  # Links to pages that are installed are put aside while the others are replaced.
  foreach(kept ${pages})
    string(REPLACE "](../${kept}" "](@up/${kept}" text "${text}")
    string(REPLACE "](${kept}" "](@here/${kept}" text "${text}")
  endforeach()
  set(others "[.][.]/|HACKING[.]md|CONTRIBUTING[.]md")
  string(REGEX REPLACE "\\[([^]]+)\\]\\(((${others})[^)]*)\\)" "\\1 (in the source: \\2)" text
                       "${text}")
  string(REPLACE "(in the source: ../" "(in the source: " text "${text}")
  string(REPLACE "](@up/" "](../" text "${text}")
  string(REPLACE "](@here/" "](" text "${text}")
  set(target $ENV{DESTDIR}${FOLDER}/${page})
  file(WRITE ${target} "${text}")
  file(CHMOD ${target} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${FOLDER}/${page})
endforeach()
