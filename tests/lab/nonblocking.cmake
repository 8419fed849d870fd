# SPDX-License-Identifier: BSD-3-Clause
# Nonblocking and persistent collectives over hosts.
function(sumac_lab_nonblocking)
  sumac_lab_test(${ARGV} NONBLOCKING)
endfunction()

sumac_mpi_test_program(overlap overlap.cc)
sumac_lab_nonblocking(overlap LAYOUTS 2+2 2+1+2 1+1+1+1 EXPECTED ${levels})
sumac_lab_nonblocking(trap LAYOUTS 2+2 2+1+2 1+1+1+1 ARGS 17 EXPECTED ${levels})
sumac_lab_nonblocking(nonblocking_random LAYOUTS 2+2 2+1+2 1+1+1+1 2+2turns ARGS 4
                      EXPECTED ${levels})
sumac_lab_nonblocking(persistent LAYOUTS 2+1+2 ARGS 4 EXPECTED ${levels})
sumac_lab_nonblocking(persistent_order LAYOUTS 2+1+2 1+1+1 ARGS 3 EXPECTED ${levels})
sumac_lab_nonblocking(persistent_late PROGRAM persistent_order LAYOUTS 2+1+2 ARGS 0
                      EXPECTED allreduce:levels)
sumac_lab_nonblocking(persistent_many LAYOUTS 2+1 ARGS 40 300 EXPECTED ${levels})
sumac_lab_nonblocking(requests LAYOUTS 2+1+2 ARGS 200 EXPECTED ${levels})
foreach(program nonblocking_errors nonblocking_others nonblocking_threads)
  sumac_lab_nonblocking(${program} LAYOUTS 2+1+2 EXPECTED barrier:levels)
endforeach()

# Operations of sumac_op_create and hinted ones.
foreach(program handles halves)
  sumac_lab_nonblocking(operations_${program} LAYOUTS 2+1+2 ARGS 20 EXPECTED allreduce:levels)
endforeach()

sumac_lab_nonblocking(overlap_long PROGRAM overlap LAYOUTS 2+1+2 3+3turns 1+1+1+1 ARGS 60
                      EXPECTED ${levels} LABELS slow)
sumac_lab_nonblocking(trap_all PROGRAM trap LAYOUTS 2+2 2+1+2 1+1+1+1 ARGS 1 EXPECTED ${levels}
                      LABELS slow SECONDS 600)
sumac_lab_nonblocking(nonblocking_random_long PROGRAM nonblocking_random
                      LAYOUTS 2+2 2+1+2 1+1+1+1 3+3turns ARGS 60 1000 EXPECTED ${levels}
                      LABELS slow SECONDS 600)
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
  sumac_lab_nonblocking(random_${name} PROGRAM nonblocking_random LAYOUTS ${layout} ARGS 20 300
                        ENV "${setting}" EXPECTED ${ARGN} LABELS slow)
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
  sumac_lab_test(random_handed_down PROGRAM nonblocking_random FAMILIES mpich
                 LAYOUTS 2+1+2 2+2turns ARGS 4 EXPECTED bcast:levels)
  sumac_lab_test(trap_handed_down PROGRAM trap FAMILIES mpich LAYOUTS 2+1+2 ARGS 17
                 EXPECTED barrier:levels)
  foreach(program persistent requests)
    sumac_lab_test(${program}_handed_down PROGRAM ${program} FAMILIES mpich LAYOUTS 2+1+2 ARGS 5
                   EXPECTED barrier:levels)
  endforeach()
endif()
