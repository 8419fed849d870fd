# SPDX-License-Identifier: BSD-3-Clause
# Where products are, in the build tree and installed: bin/sumac finds libsumac.so as ../lib, and
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

# The programs that are linked to an MPI find it where it was found, which need not be a place that
# the system looks in.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# sumac_product(TARGET [EXPORT SET]): a program or shared library that users get; exported, they may
# link to it.
function(sumac_product target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
                                             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  install(TARGETS ${target} ${ARGN}
          RUNTIME DESTINATION ${SUMAC_INSTALL_BINDIR}
          LIBRARY DESTINATION ${SUMAC_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${SUMAC_INSTALL_INCLUDEDIR})
endfunction()

# sumac_install_documents(): licences, pages, the rules that are built in, modulefiles, and what
# find_package(sumac) and pkg-config read. Those find the rest from where they lie themselves.
function(sumac_install_documents)
  include(CMakePackageConfigHelpers)
  set(config_folder ${SUMAC_INSTALL_LIBDIR}/cmake/sumac)
  set(made ${PROJECT_BINARY_DIR}/packaging)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/sumacConfig.cmake.in ${made}/sumacConfig.cmake
    INSTALL_DESTINATION ${config_folder} PATH_VARS SUMAC_INSTALL_INCLUDEDIR)
  write_basic_package_version_file(${made}/sumacConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${made}/sumacConfig.cmake ${made}/sumacConfigVersion.cmake
          DESTINATION ${config_folder})
  install(EXPORT sumacTargets NAMESPACE sumac:: DESTINATION ${config_folder})

  file(RELATIVE_PATH SUMAC_PC_PREFIX /${SUMAC_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" SUMAC_PC_PREFIX ${SUMAC_PC_PREFIX})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/sumac.pc.in ${made}/sumac.pc @ONLY)
  install(FILES ${made}/sumac.pc DESTINATION ${SUMAC_INSTALL_LIBDIR}/pkgconfig)

  # These libraries consist of headers, whose code is compiled into the products. To a wheel for
  # other machines auditwheel adds hwloc and what that needs.
  set(packages libcli11-dev libhwy-dev libtomlplusplus-dev nlohmann-json3-dev)
  set(licences ${CMAKE_INSTALL_DOCDIR}/licenses)
  if(DEFINED SKBUILD)
    list(APPEND packages libhwloc15 libudev1)
    set(licences sumac_mpi/licenses)
  endif()
  foreach(package ${packages})
    install(FILES /usr/share/doc/${package}/copyright OPTIONAL
            DESTINATION ${licences} RENAME ${package})
  endforeach()

  if(DEFINED SKBUILD) # a wheel has its own licence where pip wants it, and no pages
    return()
  endif()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(CODE "set(SOURCE \"${PROJECT_SOURCE_DIR}\")
    set(FOLDER \"${CMAKE_INSTALL_DOCDIR}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallPages.cmake)
  install(FILES src/rules/rules.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/sumac)
  # Environment Modules reads the file without, and Lmod the one with the suffix.
  foreach(suffix "" .lua)
    set(modulefile ${made}/modulefiles/${PROJECT_VERSION}${suffix})
    set(source sumac.tcl.in)
    if(suffix)
      set(source sumac${suffix}.in)
    endif()
    configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefiles/${source} ${modulefile} @ONLY)
    install(FILES ${modulefile} DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/sumac)
  endforeach()
endfunction()
