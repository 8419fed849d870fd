# SPDX-License-Identifier: BSD-3-Clause
# Real ranks of a build with the address and undefined-behaviour sanitizers, or with that of
# threads: the programs and the back ends are compiled with them. A rank in which they find
# something ends with another status than 0, and with it the job.

# The runtime comes with the program, behind libsumac.so, which is in front of all and in which
# there is nothing to watch. Leaks are looked for in the unit tests: the MPIs' own are many.
# ThreadSanitizer sees the threads of a rank, and not what ranks share: that is what the simulated
# ranks of the unit tests are for. What the MPIs' libraries do, which are not compiled with it, is
# left out: it does not know their locks. Its addresses leave no room for those that Linux chooses
# at random, nor for the memory hooks of the UCX below MPICH.
set(thread_options
    ignore_noninstrumented_modules=1
    history_size=7 # stacks of earlier accesses are there for the suppressions
    suppressions=${CMAKE_CURRENT_SOURCE_DIR}/threads.supp)
list(JOIN thread_options : thread_options)
set(surroundings
    ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    TSAN_OPTIONS=${thread_options})
if(SUMAC_SANITIZE MATCHES thread)
  list(APPEND surroundings "SUMAC_TEST_FRONT=setarch -R" UCX_MEM_EVENTS=no)
endif()

add_custom_target(sanitized_tests COMMENT "All programs that the tests labelled 'sanitized' start")
add_dependencies(sanitized_tests sumac sumac_stub)
foreach(family IN LISTS SUMAC_MPI_FAMILIES)
  add_dependencies(sanitized_tests sumac_backend_${family})
endforeach()

# sumac_sanitized_test(NAME [PROGRAM program] RANKS n... [ARGS ...] [ENV NAME=VALUE...])
function(sumac_sanitized_test name)
  cmake_parse_arguments(ARG "" "PROGRAM" "RANKS;ARGS;ENV" ${ARGN})
  sumac_default(ARG_PROGRAM ${name})
  sumac_mpi_test(${name} PREFIX sanitized PROGRAM ${ARG_PROGRAM} RANKS ${ARG_RANKS}
                 ARGS ${ARG_ARGS} ENV ${surroundings} ${ARG_ENV} LABELS sanitized slow
                 SECONDS 300)
  foreach(family IN LISTS SUMAC_MPI_FAMILIES)
    add_dependencies(sanitized_tests mpi_test_${ARG_PROGRAM}_${family})
  endforeach()
endfunction()

# What the tests below would find.
set(faults "address:heap-buffer-overflow" "undefined:signed integer overflow")
if(SUMAC_SANITIZE MATCHES thread)
  set(faults "thread:data race")
endif()
include_directories(${PROJECT_SOURCE_DIR}/tests)
sumac_mpi_test_programs(faulty)
foreach(family IN LISTS SUMAC_MPI_FAMILIES)
  add_dependencies(sanitized_tests mpi_test_faulty_${family})
endforeach()
sumac_script_tests(faulty PREFIX sanitized SCRIPT ${endings}
                   PROGRAM mpi_test_faulty SECONDS 300 LABELS mpi sanitized slow
                   ENV ${surroundings} ARGS ${faults})

sumac_sanitized_test(threads RANKS 2 3 ARGS 5 ${nonblocking})
sumac_sanitized_test(persistent RANKS 2 3 ARGS 100 20 ${nonblocking})
sumac_sanitized_test(communicators RANKS 2 3 4)
sumac_sanitized_test(random_threads PROGRAM random RANKS 2 3 ARGS --first 200 --count 4 --threads 3)
sumac_sanitized_test(random_progress PROGRAM random RANKS 2 3 ARGS --first 400 --count 10
                     ENV SUMAC_PROGRESS=thread)
if(SUMAC_SANITIZE MATCHES thread)
  return() # the rest has one thread a rank
endif()

set(levels SUMAC_HIERARCHY=ranks:2,node)
sumac_sanitized_test(sweep RANKS 2 3 ARGS 70000)
sumac_sanitized_test(sweep_slots PROGRAM sweep RANKS 3 ARGS 70000 ENV SUMAC_CMA=off)
sumac_sanitized_test(types PROGRAM reduce_table RANKS 2 3 ARGS types)
sumac_sanitized_test(user_operations RANKS 2 3 ARGS 3000)
sumac_sanitized_test(user_operations_levels PROGRAM user_operations RANKS 3 ARGS --levels 3000
                     ENV ${levels})
sumac_sanitized_test(churn RANKS 2 ARGS 300)
sumac_sanitized_test(messages RANKS 2 3 ARGS 300 1 50 ENV SUMAC_PACK_MESSAGES=1)
sumac_sanitized_test(layouts RANKS 2 3 ARGS 60)
sumac_sanitized_test(left_calls RANKS 2 3 ARGS ${nonblocking})
sumac_sanitized_test(direct RANKS 2 3 ARGS off 40)
sumac_sanitized_test(random RANKS 2 3 5 ARGS --first 100 --count 6)
sumac_sanitized_test(random_levels PROGRAM random RANKS 5 ARGS --first 300 --count 6
                     ENV SUMAC_HIERARCHY=ranks:2,ranks:2,node SUMAC_CMA=off)
