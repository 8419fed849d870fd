# SPDX-License-Identifier: BSD-3-Clause
# What is run in a lab. LABELS slow: not in 'make check'.
set(levels allreduce:levels reduce:levels bcast:levels barrier:levels)
set(layouts 2+2 2+1+2 3+3+3 2+2turns 3+3+3turns)

sumac_mpi_test_program(nodes nodes.cc)
sumac_lab_test(nodes LAYOUTS 2+2 2+1+2 2+2turns EXPECTED ${levels})
sumac_lab_test(nodes LAYOUTS 3+3+3 3+3+3turns EXPECTED ${levels} LABELS slow)
sumac_lab_test(nodes_one_each PROGRAM nodes LAYOUTS 1+1+1+1 ARGS 600000 EXPECTED ${levels})
sumac_lab_test(parts LAYOUTS 2+1+2 3+3turns NONBLOCKING SECONDS 300
               EXPECTED reduce_scatter:levels allgather:levels)
sumac_lab_test(hammer LAYOUTS 2+1+2 3+3+3turns ARGS 1 EXPECTED ${levels})
sumac_lab_test(hammer_more PROGRAM hammer LAYOUTS ${layouts} ARGS 4 17 EXPECTED ${levels}
               LABELS slow)
sumac_mpi_test_program(traffic traffic.cc)
# Large messages only.
set(large allreduce:passive reduce:passive bcast:passive barrier:levels)
sumac_lab_test(traffic LAYOUTS 2+2 EXPECTED ${large})
sumac_lab_test(traffic_turns PROGRAM traffic LAYOUTS 2+2turns EXPECTED ${large} LABELS slow)

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
foreach(program communicators signatures progress errors threads types)
  sumac_lab_test(${program} LAYOUTS 2+1+2 EXPECTED bcast:levels)
endforeach()
sumac_lab_test(churn LAYOUTS 2+1+2 ARGS 400 EXPECTED bcast:levels LABELS slow)
sumac_lab_test(budget LAYOUTS 2+1+2 ENV SUMAC_SHM_BUDGET=1M EXPECTED bcast:levels)

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

sumac_mpi_test_program(handed_down handed_down.cc)
foreach(family IN LISTS SUMAC_MPI_FAMILIES)
  sumac_lab_script(lab.disagree.${family} disagree_test.sh ${family} 900 lab
                   $<TARGET_FILE:mpi_test_options_${family}>)
  sumac_lab_script(lab.forced.${family} forced_test.sh ${family} 900 lab
                   $<TARGET_FILE:mpi_test_switches_${family}>)
  sumac_lab_script(lab.without.${family} without_test.sh ${family} 900 lab
                   $<TARGET_FILE:mpi_test_presence_${family}>)
  sumac_lab_script(lab.calls_differ.${family} calls_differ_test.sh ${family} 600 lab
                   $<TARGET_FILE:mpi_test_calls_differ_${family}>)
  sumac_lab_script(lab.rank_killed.${family} rank_killed_test.sh ${family} 500 lab
                   $<TARGET_FILE:environment_probe_${family}>)
  list(JOIN levels " " killed_in)
  string(APPEND killed_in " allreduce:multi_leader allreduce:passive reduce_scatter:levels"
         " allgather:levels")
  sumac_lab_script(lab.killed.${family} killed_test.sh ${family} 300 "lab;slow"
                   $<TARGET_FILE:fault_killed_${family}> "10:3:500" "allreduce:levels" blocking)
  # The leader of a host, and a rank that it leads; small, and in chunks.
  sumac_lab_script(lab.killed_more.${family} killed_test.sh ${family} 3600 "lab;slow"
                   $<TARGET_FILE:fault_killed_${family}>
                   "10:3:before 10:2:400 10:3:2500 100000:1:30000 100000:2:90000 10:2:after"
                   "${killed_in}" blocking nonblocking persistent)
  set(labels lab)
  if(family STREQUAL "mpich")
    list(APPEND labels slow)
  endif()
  sumac_lab_script(lab.shm.${family} shm_test.sh ${family} 1800 "${labels}"
                   $<TARGET_FILE:mpi_test_handed_down_${family}>
                   $<TARGET_FILE:environment_probe_${family}>)
endforeach()

# `sumac plan` against traces: 20 shapes, and 200 of them.
if(TARGET sumac-plan)
  sumac_mpi_test_program(shapes shapes.cc)
  foreach(family IN LISTS SUMAC_MPI_FAMILIES)
    sumac_lab_script(lab.plan.${family} plan_test.sh ${family} 300 lab
                     $<TARGET_FILE:mpi_test_shapes_${family}> 4 4)
    sumac_lab_script(lab.plan_more.${family} plan_test.sh ${family} 900 "lab;slow"
                     $<TARGET_FILE:mpi_test_shapes_${family}> 40 2)
  endforeach()
endif()
