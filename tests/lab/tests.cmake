# SPDX-License-Identifier: BSD-3-Clause
# What is run in a lab. LABELS slow: not in 'make check'.
set(levels allreduce:levels reduce:levels bcast:levels barrier:levels)
set(layouts 2+2 2+1+2 3+3+3 2+2turns 3+3+3turns)

sumac_mpi_test_programs(nodes)
sumac_lab_test(nodes LAYOUTS 2+2 2+1+2 2+2turns EXPECTED ${levels})
sumac_lab_test(nodes LAYOUTS 3+3+3 3+3+3turns EXPECTED ${levels} LABELS slow)
# As in communicators that are too large for every rank to tell all others who it is.
sumac_lab_test(nodes_introduced PROGRAM nodes LAYOUTS 2+1+2 2+2turns ARGS 600000
               ENV SUMAC_TELL_ALL=1 EXPECTED ${levels})
sumac_lab_test(communicators_introduced PROGRAM communicators LAYOUTS 2+1+2 ENV SUMAC_TELL_ALL=1
               EXPECTED bcast:levels)
sumac_lab_test(nodes_one_each PROGRAM nodes LAYOUTS 1+1+1+1 ARGS 600000 EXPECTED ${levels})
sumac_lab_test(parts LAYOUTS 2+1+2 3+3turns NONBLOCKING SECONDS 300
               EXPECTED reduce_scatter:levels allgather:levels)
sumac_mpi_test_programs(traffic)
# Large messages only.
set(large allreduce:passive reduce:passive bcast:passive barrier:levels)
sumac_lab_test(traffic LAYOUTS 2+2 EXPECTED ${large})
sumac_lab_test(traffic_turns PROGRAM traffic LAYOUTS 2+2turns EXPECTED ${large} LABELS slow)

# Nodes of different sizes, whose ranks choose together.
sumac_lab_test(adapt_nodes PROGRAM adapt LAYOUTS 3+1 2+1+2 ARGS random 4000 5
               ENV SUMAC_ADAPT=all EXPECTED bcast:levels SECONDS 300)

# Where ranks are makes no difference to the bits; MPICH hands nonblocking calls down.
sumac_lab_test(reproducible LAYOUTS 2+1+2 3+3turns ARGS 70000 --blocking
               ENV SUMAC_REPRODUCIBLE=1 EXPECTED allreduce:ordered reduce:ordered)
sumac_lab_test(reproducible_nonblocking PROGRAM reproducible LAYOUTS 2+2turns FAMILIES openmpi
               ARGS 70000 ENV SUMAC_REPRODUCIBLE=1 LABELS slow
               EXPECTED allreduce:ordered reduce_scatter:ordered)
sumac_lab_test(reproducible_without PROGRAM reproducible LAYOUTS 2+1+2 FAMILIES openmpi
               ARGS 70000 --differs EXPECTED allreduce:levels LABELS slow)

# The programs for one host.
sumac_lab_test(run_ahead LAYOUTS 2+1+2 ARGS levels EXPECTED bcast:levels reduce:levels)
sumac_lab_test(types PROGRAM reduce_table LAYOUTS 2+1+2 ARGS types EXPECTED bcast:levels)
foreach(program communicators signatures progress)
  sumac_lab_test(${program} LAYOUTS 2+1+2 EXPECTED bcast:levels)
endforeach()
sumac_lab_test(churn LAYOUTS 2+1+2 ARGS 400 EXPECTED bcast:levels LABELS slow)
sumac_lab_test(budget PROGRAM churn LAYOUTS 2+1+2 ARGS 20 budget ENV SUMAC_SHM_BUDGET=1M
               EXPECTED bcast:levels)

# sumac_lab_variant(NAME LAYOUT SETTING EXPECTED...): the sweep with an option.
set(variants_in_check flat pairs allreduce_multi_leader allreduce_all_ranks reduce_all_ranks
    bcast_all_ranks slow_peer)
function(sumac_lab_variant name layout setting)
  set(label slow)
  if(name IN_LIST variants_in_check)
    set(label "")
  endif()
  sumac_lab_test(nodes_${name} PROGRAM nodes LAYOUTS ${layout} ARGS 600000 ENV "${setting}"
                 EXPECTED ${ARGN} LABELS ${label})
endfunction()

sumac_lab_variant(flat 2+1+2 SUMAC_HIERARCHY=flat ${levels})
sumac_lab_variant(pairs 3+3turns SUMAC_HIERARCHY=ranks:2,node ${levels})
sumac_lab_variant(package 2+1+2 SUMAC_HIERARCHY=package,node ${levels})
sumac_lab_variant(list 2+2 SUMAC_HIERARCHY=list:0-1/2-3,node ${levels})
sumac_lab_variant(pairs_of_nodes 2+2+2+2 SUMAC_HIERARCHY=ranks:2,node,ranks:2 ${levels})
sumac_lab_variant(four_levels 3+1+2+1 SUMAC_HIERARCHY=ranks:2,node,ranks:2 ${levels})
foreach(algorithm ring rabenseifner recursive_doubling)
  sumac_lab_variant(allreduce_${algorithm} 2+1+2 SUMAC_ALGO=allreduce:${algorithm} ${levels})
endforeach()
sumac_lab_variant(allreduce_multi_leader 3+3turns SUMAC_ALGO=allreduce:multi_leader
                  allreduce:multi_leader)
foreach(algorithm allreduce:all_ranks allreduce:flat reduce:all_ranks reduce:flat bcast:all_ranks
        bcast:flat)
  string(REPLACE ":" "_" name ${algorithm})
  sumac_lab_variant(${name} 3+3turns SUMAC_ALGO=${algorithm} ${algorithm})
endforeach()
# Where ranks share processors, as here, the rules prefer the passive one for large messages.
foreach(collective allreduce reduce bcast)
  foreach(algorithm levels passive)
    sumac_lab_variant(${collective}_${algorithm} 2+1+2 SUMAC_ALGO=${collective}:${algorithm}
                      ${collective}:${algorithm})
  endforeach()
endforeach()
foreach(algorithm bcast:chain bcast:knomial bcast:scatter_allgather reduce:chain reduce:knomial
        reduce:rabenseifner)
  string(REPLACE ":" "_" name ${algorithm})
  sumac_lab_variant(${name} 2+1+2 SUMAC_ALGO=${algorithm} ${levels})
endforeach()
foreach(design basic direct peer)
  sumac_lab_variant(slow_${design} 2+1+2
                    "SUMAC_SLOW_HOSTS=h2;SUMAC_SLOW_DESIGN=${design}" ${levels})
endforeach()
# Slow ranks that belong to a host with others.
sumac_lab_variant(slow_of_h1 2+2+2 "SUMAC_SLOW_HOSTS=h2@h1" ${levels})

sumac_mpi_test_programs(handed_down)

# sumac_lab_scripts(NAME SCRIPT SECONDS PROGRAM ... [ARGS ...]): sumac_script_tests; the script gets
# the library made from mpich.c before ARGS.
function(sumac_lab_scripts name script seconds program)
  cmake_parse_arguments(ARG "" "" "ARGS" ${ARGN})
  sumac_script_tests(${name} PREFIX lab SCRIPT ${script} SECONDS ${seconds} PROGRAM ${program}
                     LABELS lab ${ARG_UNPARSED_ARGUMENTS}
                     ARGS $<TARGET_FILE:lab_mpich> ${ARG_ARGS})
endfunction()
sumac_lab_scripts(disagree differ.sh 900 mpi_test_switches TURN 2)
sumac_lab_scripts(calls_differ differ.sh 900 mpi_test_calls_differ TURN 3)
sumac_lab_scripts(forced hosts.sh 900 mpi_test_switches TURN 4)
sumac_lab_scripts(without differ.sh 900 mpi_test_presence TURN 5)
sumac_lab_scripts(shm hosts.sh 1800 mpi_test_handed_down SLOW_FAMILIES mpich
                  ARGS $<TARGET_FILE:environment_probe_@family@>)
sumac_lab_scripts(rank_killed ${killed} 500 environment_probe CASE probe_on_hosts)
sumac_lab_scripts(killed ${killed} 300 mpi_test_fault_killed CASE on_hosts LABELS slow
                  ARGS "10:3:500" "allreduce:levels" blocking)
list(JOIN levels " " killed_in)
string(APPEND killed_in " allreduce:multi_leader allreduce:passive reduce_scatter:levels"
       " allgather:levels")
# The leader of a host, and a rank that it leads; small, and in chunks.
sumac_lab_scripts(killed_more ${killed} 3600 mpi_test_fault_killed CASE on_hosts LABELS slow
                  ARGS "10:3:before 10:2:400 10:3:2500 100000:1:30000 100000:2:90000 10:2:after"
                       "${killed_in}" blocking nonblocking persistent)

# `sumac plan` against traces: 20 shapes, and 200 of them.
if(TARGET sumac-plan)
  sumac_mpi_test_programs(shapes)
  sumac_lab_scripts(plan hosts.sh 300 mpi_test_shapes ARGS 4 4)
  sumac_lab_scripts(plan_more hosts.sh 900 mpi_test_shapes CASE plan LABELS slow ARGS 40 2)
endif()

# Nonblocking and persistent collectives over hosts.
function(sumac_lab_nonblocking)
  sumac_lab_test(${ARGV} NONBLOCKING)
endfunction()

sumac_mpi_test_programs(overlap)
sumac_lab_nonblocking(overlap LAYOUTS 2+2 2+1+2 1+1+1+1 EXPECTED ${levels})
sumac_lab_nonblocking(trap LAYOUTS 2+2 2+1+2 1+1+1+1 ARGS 17 EXPECTED ${levels})
sumac_lab_nonblocking(random LAYOUTS 2+2 2+1+2 1+1+1+1 2+2turns 3+3+3turns
                      ARGS --first 500 --count 12 EXPECTED ${levels})
sumac_lab_nonblocking(persistent LAYOUTS 2+1+2 ARGS 40 300 EXPECTED ${levels})
sumac_lab_nonblocking(persistent_order LAYOUTS 2+1+2 1+1+1 ARGS 3 EXPECTED ${levels})
sumac_lab_nonblocking(persistent_late PROGRAM persistent_order LAYOUTS 2+1+2 ARGS 0
                      EXPECTED allreduce:levels)
sumac_lab_nonblocking(requests LAYOUTS 2+1+2 ARGS 200 EXPECTED ${levels})
sumac_lab_nonblocking(errors LAYOUTS 2+1+2 ARGS --nonblocking
                      EXPECTED bcast:levels barrier:levels)
sumac_lab_nonblocking(threads LAYOUTS 2+1+2 ARGS 2 EXPECTED bcast:levels barrier:levels)
sumac_lab_nonblocking(threads_more PROGRAM threads LAYOUTS 2+1+2 ARGS 10
                      EXPECTED bcast:levels barrier:levels LABELS slow)

# Operations of sumac_op_create and hinted ones.
foreach(program handles halves)
  sumac_lab_nonblocking(operations_${program} LAYOUTS 2+1+2 ARGS 20 EXPECTED allreduce:levels)
endforeach()

sumac_lab_nonblocking(overlap_long PROGRAM overlap LAYOUTS 2+1+2 3+3turns 1+1+1+1 ARGS 60
                      EXPECTED ${levels} LABELS slow)
sumac_lab_nonblocking(trap_all PROGRAM trap LAYOUTS 2+2 2+1+2 1+1+1+1 ARGS 1 EXPECTED ${levels}
                      LABELS slow SECONDS 600)
sumac_lab_nonblocking(random_long PROGRAM random LAYOUTS 1+1+1+1 ${layouts}
                      ARGS --first 1000 --count 15 --calls 200 EXPECTED ${levels} LABELS slow
                      SECONDS 600)
foreach(program persistent requests)
  sumac_lab_nonblocking(${program}_more PROGRAM ${program} LAYOUTS 2+2 1+1+1+1 3+3turns ARGS 30
                        EXPECTED ${levels} LABELS slow)
endforeach()

# sumac_lab_outstanding(NAME LAYOUT SETTING EXPECTED...): many under way, with an option.
set(outstanding_in_check pairs multi_leader allreduce_passive)
function(sumac_lab_outstanding name layout setting)
  set(label slow)
  if(name IN_LIST outstanding_in_check)
    set(label "")
  endif()
  sumac_lab_nonblocking(overlap_${name} PROGRAM overlap LAYOUTS ${layout} ARGS 3 ENV "${setting}"
                        EXPECTED ${ARGN} LABELS ${label})
  sumac_lab_nonblocking(random_${name} PROGRAM random LAYOUTS ${layout}
                        ARGS --first 300 --count 20 --calls 100 ENV "${setting}"
                        EXPECTED ${ARGN} LABELS slow)
endfunction()

sumac_lab_outstanding(pairs 3+3turns SUMAC_HIERARCHY=ranks:2,node ${levels})
sumac_lab_outstanding(four_levels 3+1+2+1 SUMAC_HIERARCHY=ranks:2,node,ranks:2 ${levels})
sumac_lab_outstanding(flat 2+1+2 SUMAC_HIERARCHY=flat ${levels})
sumac_lab_outstanding(multi_leader 3+3turns SUMAC_ALGO=allreduce:multi_leader
                      allreduce:multi_leader)
sumac_lab_outstanding(all_ranks 3+3turns
                      "SUMAC_ALGO=allreduce:all_ranks;SUMAC_HIERARCHY=ranks:2,node"
                      allreduce:all_ranks)
foreach(collective allreduce reduce bcast)
  sumac_lab_outstanding(${collective}_passive 2+1+2 SUMAC_ALGO=${collective}:passive
                        ${collective}:passive)
endforeach()
sumac_lab_outstanding(slots 2+1+2 SUMAC_CMA=off ${levels})
sumac_lab_outstanding(slow_peer 2+1+2 "SUMAC_SLOW_HOSTS=h2;SUMAC_SLOW_DESIGN=peer" ${levels})
sumac_lab_outstanding(thread 2+1+2 SUMAC_PROGRESS=thread ${levels})

# Where nothing makes messages go on, the MPI does it, and `overlap` wants to see that; calls within
# a host stay Sumac's.
if("mpich" IN_LIST SUMAC_MPI_FAMILIES)
  sumac_lab_test(overlap_handed_down PROGRAM overlap FAMILIES mpich LAYOUTS 2+2 2+1+2 1+1+1+1
                 EXPECTED barrier:levels)
  sumac_lab_test(random_handed_down PROGRAM random FAMILIES mpich LAYOUTS 2+1+2 2+2turns
                 ARGS --first 500 --count 12 EXPECTED bcast:levels)
  sumac_lab_test(trap_handed_down PROGRAM trap FAMILIES mpich LAYOUTS 2+1+2 ARGS 17
                 EXPECTED barrier:levels)
  foreach(program persistent requests)
    sumac_lab_test(${program}_handed_down PROGRAM ${program} FAMILIES mpich LAYOUTS 2+1+2 ARGS 5
                   EXPECTED barrier:levels)
  endforeach()
endif()
