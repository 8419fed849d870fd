# SPDX-License-Identifier: BSD-3-Clause
# Where products lie, in the build tree and installed: bin/sumac finds libsumac.so as ../lib, and
# libsumac.so finds its back ends beside itself.
if(DEFINED SKBUILD)  # a Python wheel: everything in the package, the command beside python
  set(SUMAC_INSTALL_LIBDIR sumac_mpi/lib CACHE STRING "Where libsumac.so and its back ends go")
  set(SUMAC_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR} CACHE STRING "Where the sumac command goes")
  set(SUMAC_INSTALL_INCLUDEDIR sumac_mpi/include CACHE STRING "Where sumac/sumac.h goes")
else()
  set(SUMAC_INSTALL_LIBDIR ${CMAKE_INSTALL_LIBDIR}
      CACHE STRING "Where libsumac.so and its back ends go")
  set(SUMAC_INSTALL_BINDIR ${CMAKE_INSTALL_BINDIR} CACHE STRING "Where the sumac command goes")
  set(SUMAC_INSTALL_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR} CACHE STRING "Where sumac/sumac.h goes")
endif()

# sumac_product(TARGET): a program or shared library that users get.
function(sumac_product target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
                                             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  install(TARGETS ${target} RUNTIME DESTINATION ${SUMAC_INSTALL_BINDIR}
                            LIBRARY DESTINATION ${SUMAC_INSTALL_LIBDIR})
endfunction()
