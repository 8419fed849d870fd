# SPDX-License-Identifier: BSD-3-Clause
# Finds the headers and compiler of each MPI family. find_package(MPI) holds one MPI per configure,
# and the back ends must not be linked against any: only headers are needed, and compiler wrappers
# for test programs. Sets SUMAC_MPI_FAMILIES and, for each family F,
#   SUMAC_<F>_INCLUDES  include directories     SUMAC_<F>_LAUNCHER  mpiexec
#   SUMAC_<F>_CC, _CXX, _FC  compiler wrappers
# and SUMAC_BACK_ENDS: the families that there is a back end for.
set(SUMAC_MPI_FAMILIES "")
# Without the MPIs' old C++ bindings, whose libraries nothing here is linked to.
set(SUMAC_MPI_DEFINITIONS OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

function(sumac_find_family family wrapper_suffix includes_command)
  find_program(SUMAC_${family}_CC NAMES mpicc.${wrapper_suffix})
  find_program(SUMAC_${family}_CXX NAMES mpicxx.${wrapper_suffix})
  find_program(SUMAC_${family}_FC NAMES mpif90.${wrapper_suffix})
  find_program(SUMAC_${family}_LAUNCHER NAMES mpiexec.${wrapper_suffix})
  if(NOT SUMAC_${family}_CC)
    return()
  endif()
  execute_process(COMMAND ${SUMAC_${family}_CC} ${includes_command} OUTPUT_VARIABLE line
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "-I[^ ]+" flags "${line}")
  list(TRANSFORM flags REPLACE "^-I" "")
  set(SUMAC_${family}_INCLUDES "${flags}" PARENT_SCOPE)
  set(SUMAC_MPI_FAMILIES ${SUMAC_MPI_FAMILIES} ${family} PARENT_SCOPE)
  message(STATUS "MPI family ${family}: ${SUMAC_${family}_CC}")
endfunction()

sumac_find_family(openmpi openmpi "--showme:compile")
sumac_find_family(mpich mpich "-show")
if(NOT SUMAC_MPI_FAMILIES)
  message(FATAL_ERROR "No MPI found: install libopenmpi-dev or libmpich-dev (or run 'make setup')")
endif()

# The standard's binary interface: the same for every MPI, so the back end needs no MPI's header.
set(SUMAC_mpiabi_INCLUDES ${PROJECT_SOURCE_DIR}/src/interpose/abi)
set(SUMAC_BACK_ENDS ${SUMAC_MPI_FAMILIES} mpiabi)
# Its programs need an MPI's <mpi.h>, MPICH's from 5.0 on. Nothing of them is in the target `all`.
set(SUMAC_MPIABI_ROOT "" CACHE PATH "An MPICH of at least 5.0, for test programs of its ABI")
set(SUMAC_PROGRAM_FAMILIES ${SUMAC_MPI_FAMILIES})
if(SUMAC_MPIABI_ROOT)
  list(APPEND SUMAC_PROGRAM_FAMILIES mpiabi)
  find_library(SUMAC_MPIABI_LIBRARY NAMES mpi_abi PATHS ${SUMAC_MPIABI_ROOT}/lib NO_DEFAULT_PATH
                                                        REQUIRED)
endif()

foreach(family IN LISTS SUMAC_MPI_FAMILIES)
  sumac_precompile_program(${family} ${SUMAC_${family}_INCLUDES})
endforeach()

# sumac_take_turns(VARIABLE FAMILY CASE FAMILIES f...): 'make check' runs all cases of a test and
# all families, but not each case with each: they take turns. A case is a number of ranks, a layout,
# a binding. If it is another family's, slow and turn are added to the labels in VARIABLE: 'make
# check-all' runs such tests as 'make check' runs the others, several at a time.
function(sumac_take_turns variable family case)
  cmake_parse_arguments(ARG "" "" "FAMILIES" ${ARGN})
  list(LENGTH ARG_FAMILIES count)
  list(FIND ARG_FAMILIES ${family} index)
  if(index EQUAL -1)
    return()
  endif()
  math(EXPR turn "${case} % ${count}")
  if(NOT index EQUAL turn AND NOT "slow" IN_LIST ${variable})
    set(${variable} ${${variable}} slow turn PARENT_SCOPE)
  endif()
endfunction()

# sumac_case_of(CASE NAME): sets the variable CASE to a number made of the name, by which tests of a
# single case take turns.
function(sumac_case_of case name)
  string(MD5 hash ${name})
  string(SUBSTRING ${hash} 0 4 hash)
  math(EXPR number "0x${hash}")
  set(${case} ${number} PARENT_SCOPE)
endfunction()

# sumac_link_mpi(NAME LIBRARY): links the program to the MPI. Debian's libmpi.so for Open MPI is a
# link, in a folder of its own, to a library where the system looks: a program that is linked to
# that library itself needs no RPATH.
function(sumac_link_mpi name library)
  file(REAL_PATH ${library} real)
  cmake_path(GET real PARENT_PATH folder)
  if(folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set(library ${real})
  endif()
  target_link_libraries(${name} PRIVATE ${library})
endfunction()

# sumac_include_mpi(NAME FAMILY): compiles the target with the header of that family's MPI.
function(sumac_include_mpi name family)
  if(family STREQUAL mpiabi)
    target_include_directories(${name} SYSTEM PRIVATE ${SUMAC_MPIABI_ROOT}/include)
    target_compile_definitions(${name} PRIVATE MPI_ABI)
  else()
    target_include_directories(${name} SYSTEM PRIVATE ${SUMAC_${family}_INCLUDES})
    target_compile_definitions(${name} PRIVATE ${SUMAC_MPI_DEFINITIONS})
  endif()
endfunction()

# sumac_mpi_program(NAME FAMILY sources... [OWN_FLAGS]): a program linked against that family's own
# MPI. OWN_FLAGS: it is compiled with others than sumac_flags.
function(sumac_mpi_program name family)
  cmake_parse_arguments(ARG "OWN_FLAGS" "" "" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE sumac_flags)
  sumac_include_mpi(${name} ${family})
  if(family STREQUAL mpiabi)
    target_link_libraries(${name} PRIVATE ${SUMAC_MPIABI_LIBRARY})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  if(NOT ARG_OWN_FLAGS)
    sumac_reuse_precompiled(${name} program_${family})
  endif()
  if(family STREQUAL openmpi)
    find_library(
      SUMAC_OPENMPI_LIBRARY NAMES mpi
      PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/lib NO_DEFAULT_PATH)
    sumac_link_mpi(${name} ${SUMAC_OPENMPI_LIBRARY})
  else()
    find_library(SUMAC_MPICH_LIBRARY NAMES mpich)
    sumac_link_mpi(${name} ${SUMAC_MPICH_LIBRARY})
  endif()
endfunction()
