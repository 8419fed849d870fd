# SPDX-License-Identifier: BSD-3-Clause
# What is around the collectives: the end of the process, small stacks, limits, and other programs.
sumac_mpi_test_programs(at_exit small_stacks surroundings waits)
foreach(family IN LISTS SUMAC_PROGRAM_FAMILIES)
  sumac_mpi_library(at_exit_library_${family} ${family} EXCLUDE_FROM_ALL at_exit_library.c)
  target_link_libraries(mpi_test_at_exit_${family} PRIVATE at_exit_library_${family})
endforeach()
foreach(way handler object library)
  sumac_mpi_test(at_exit_${way} PROGRAM at_exit RANKS 1 2 3 ARGS ${way})
endforeach()
sumac_mpi_script_tests(at_exit written.sh 120)
# UCX, by which Debian's MPICH sends, needs more itself.
if(NOT SUMAC_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  sumac_mpi_test(small_stacks RANKS 2 3 FAMILIES openmpi ARGS 24)
  sumac_mpi_test(small_stacks_levels PROGRAM small_stacks RANKS 3 FAMILIES openmpi ARGS 32
                 ENV SUMAC_HIERARCHY=ranks:2,node)
endif()
sumac_mpi_script_tests(surroundings written.sh 240 SLOW_FAMILIES mpich)
foreach(situation quiet stranger strangers idle_strangers threads one_sided messages)
  # All blocks that are not the MPI's are to be served, whatever a trial finds.
  sumac_mpi_test(waits_${situation} PROGRAM waits RANKS 2 ARGS ${situation} ENV SUMAC_ADAPT=off)
  foreach(family IN LISTS SUMAC_PROGRAM_FAMILIES)
    # Other tests would be strangers on the cores, of which these have their own.
    if(TEST mpi.waits_${situation}.${family}.2)
      set_tests_properties(mpi.waits_${situation}.${family}.2 PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endforeach()
