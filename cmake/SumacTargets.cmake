# SPDX-License-Identifier: BSD-3-Clause
# Flags every target of the project shares, and one way to declare a unit test.
set(SUMAC_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

# Who sets the date of a build wants the same files from every folder (reproducible-builds.org). All
# others keep the paths, by which a debugger finds the source.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  add_compile_options(-ffile-prefix-map=${PROJECT_BINARY_DIR}=build
                      -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()

add_library(sumac_flags INTERFACE)
target_include_directories(sumac_flags INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                 ${PROJECT_SOURCE_DIR}/include)
# No contraction: a fused multiply-add would give other bits on other processors. Without inlining,
# GCC 12 does not match a coroutine's template of operator new with its operator delete.
target_compile_options(
  sumac_flags
  INTERFACE -Wall -Wextra -Wshadow -ffp-contract=off $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:$<$<CONFIG:Debug>:-Wno-mismatched-new-delete>>
            $<$<BOOL:${SUMAC_WERROR}>:-Werror>)
if(SUMAC_SANITIZE)
  # vptr: tests have run-time type information, and the library has none.
  target_compile_options(sumac_flags INTERFACE -fsanitize=${SUMAC_SANITIZE}
                                               -fno-sanitize=vptr -fno-omit-frame-pointer)
  target_link_options(sumac_flags INTERFACE -fsanitize=${SUMAC_SANITIZE})
  # ThreadSanitizer does not follow fences. What they order here is atomic: no race is reported.
  target_compile_options(sumac_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()

# The parts that run inside the user's process: no exceptions, no RTTI.
add_library(sumac_library_flags INTERFACE)
target_link_libraries(sumac_library_flags INTERFACE sumac_flags)
target_compile_options(sumac_library_flags
                       INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)

# A program's threads and fibers may have stacks of 16 KiB. The compiler sees the frames that
# link-time optimisation makes only when it links. Frames are larger without optimisation, and with
# a sanitizer.
set(SUMAC_FRAME_LIMIT -W$<$<BOOL:${SUMAC_WERROR}>:error=>frame-larger-than=4096)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR SUMAC_SANITIZE)
  set(SUMAC_FRAME_LIMIT "")
endif()
target_compile_options(sumac_library_flags INTERFACE ${SUMAC_FRAME_LIMIT})

# Eight files of a large layer are compiled at once, which takes a third of the time, most of which
# goes into what all of them include. Presets in which one looks for mistakes compile single files.
set(unite ON)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR SUMAC_SANITIZE)
  set(unite OFF)
endif()
option(SUMAC_UNITE "Compile several files at once" ${unite})

# sumac_default(VARIABLE values...): sets the caller's variable unless it has a value.
function(sumac_default variable)
  if(NOT ${variable})
    set(${variable} ${ARGN} PARENT_SCOPE)
  endif()
endfunction()

# sumac_unite(TARGET [APART sources...]): APART are compiled alone, since names of their own are
# other files' names as well.
function(sumac_unite target)
  cmake_parse_arguments(ARG "" "" "APART" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SUMAC_UNITE} UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(SUMAC_UNITE)
    # GCC takes what is in such a file for something in a header.
    target_compile_options(${target}
                           PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# sumac_library(NAME sources... [DEPENDS targets...] [OWN_FLAGS]): a static piece of the back ends.
# OWN_FLAGS: it is compiled with others than sumac_library_flags.
function(sumac_library name)
  cmake_parse_arguments(ARG "OWN_FLAGS" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC sumac_flags ${ARG_DEPENDS} PRIVATE sumac_library_flags)
  if(NOT ARG_OWN_FLAGS)
    sumac_reuse_precompiled(${name} library)
  endif()
endfunction()

# The factor by which a test may be slower than on an idle machine: tests that hang must end, and
# tests on a busy machine must pass. A sanitizer makes programs some three times as slow.
set(SUMAC_PATIENCE 6)
if(SUMAC_SANITIZE)
  set(SUMAC_PATIENCE 18)
endif()

# sumac_test_limits(SECONDS tests...): TIMEOUT, from what is ample on a quiet machine.
function(sumac_test_limits seconds)
  math(EXPR limit "${seconds} * ${SUMAC_PATIENCE}")
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${limit})
endfunction()

add_custom_target(unit_tests COMMENT "All programs that the tests labelled 'unit' start")
# sumac_unit_test(NAME sources... [DEPENDS targets...] [TIMEOUT seconds] [MORE]): one GoogleTest
# program. MORE: what 'make check' runs is a part of its cases (testing/thorough.h).
function(sumac_unit_test name)
  if(NOT SUMAC_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "MORE" "TIMEOUT" "DEPENDS" ${ARGN})
  sumac_default(ARG_TIMEOUT 120)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE sumac_flags ${ARG_DEPENDS} GTest::gtest_main)
  # The tests' own code runs no slower with -O1, and compiles in half to four fifths of the time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  sumac_reuse_precompiled(${name} test)
  add_dependencies(unit_tests ${name})
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit)
  sumac_test_limits(${ARG_TIMEOUT} unit.${name})
  if(ARG_MORE)
    add_test(NAME more.${name} COMMAND ${name})
    set_tests_properties(more.${name} PROPERTIES LABELS slow ENVIRONMENT SUMAC_TEST_MORE=1)
    sumac_test_limits(${ARG_TIMEOUT} more.${name})
  endif()
endfunction()

# GTest::gtest_main: the system's library, or for another processor its sources.
if(SUMAC_TESTS AND NOT CMAKE_CROSSCOMPILING)
  find_package(GTest REQUIRED)
elseif(SUMAC_TESTS)
  find_path(SUMAC_GOOGLETEST_SOURCES src/gtest-all.cc PATHS /usr/src/googletest/googletest REQUIRED
            NO_DEFAULT_PATH)
  set(INSTALL_GTEST OFF CACHE INTERNAL "")
  add_subdirectory(${SUMAC_GOOGLETEST_SOURCES} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL
                   SYSTEM)
  target_compile_options(gtest PRIVATE -w)  # no warnings for code of others
  if(NOT TARGET GTest::gtest_main)
    add_library(GTest::gtest_main ALIAS gtest_main)
  endif()
endif()
