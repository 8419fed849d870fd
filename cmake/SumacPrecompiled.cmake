# SPDX-License-Identifier: BSD-3-Clause
# The headers that most files include, compiled once for each set of compiler flags. Every file
# includes what it uses all the same: the preset `debug` compiles without.
set(SUMAC_PRECOMPILED_HEADERS
    algorithm array atomic chrono cstddef cstdint cstdio cstdlib cstring functional map memory mutex
    random string string_view thread utility vector)
file(CONFIGURE OUTPUT precompiled.cc CONTENT "int main() { return 0; }\n")

# sumac_precompile(TARGET [headers...]): the target's flags, for the standard headers and those.
function(sumac_precompile target)
  set(headers ${SUMAC_PRECOMPILED_HEADERS} ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# sumac_reuse_precompiled(TARGET KIND): those of sumac_precompiled_<KIND>, whose flags the target
# must share. None with C in it.
function(sumac_reuse_precompiled target kind)
  get_target_property(sources ${target} SOURCES)
  if(NOT sources MATCHES "\\.c(;|$)")
    target_precompile_headers(${target} REUSE_FROM sumac_precompiled_${kind})
  endif()
endfunction()

# A program's code is not that of a library (-fPIE, -fPIC), hence several kinds.
add_library(sumac_precompiled_library STATIC ${PROJECT_BINARY_DIR}/precompiled.cc)
target_link_libraries(sumac_precompiled_library PRIVATE sumac_library_flags)
sumac_precompile(sumac_precompiled_library)

if(SUMAC_TESTS)
  add_executable(sumac_precompiled_test ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(sumac_precompiled_test PRIVATE sumac_flags GTest::gtest_main)
  sumac_precompile(sumac_precompiled_test gtest/gtest.h)
endif()

# One for each MPI family: sumac_precompile_program(FAMILY INCLUDES...)
function(sumac_precompile_program family)
  set(target sumac_precompiled_program_${family})
  add_executable(${target} ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(${target} PRIVATE sumac_flags)
  target_include_directories(${target} SYSTEM PRIVATE ${ARGN})
  target_compile_definitions(${target} PRIVATE ${SUMAC_MPI_DEFINITIONS})
  sumac_precompile(${target} mpi.h)
endfunction()
