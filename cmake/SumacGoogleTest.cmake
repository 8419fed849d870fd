# SPDX-License-Identifier: BSD-3-Clause
# GTest::gtest_main: the system's library, or for another processor its sources.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(GTest REQUIRED)
  return()
endif()
find_path(SUMAC_GOOGLETEST_SOURCES src/gtest-all.cc PATHS /usr/src/googletest/googletest REQUIRED
          NO_DEFAULT_PATH)
set(INSTALL_GTEST OFF CACHE INTERNAL "")
add_subdirectory(${SUMAC_GOOGLETEST_SOURCES} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL
                 SYSTEM)
target_compile_options(gtest PRIVATE -w)  # no warnings for code of others
if(NOT TARGET GTest::gtest_main)
  add_library(GTest::gtest_main ALIAS gtest_main)
endif()
