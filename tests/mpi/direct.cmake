# SPDX-License-Identifier: BSD-3-Clause
# Direct memory: buffers that were promoted, windows, and memory that is born shared.

# The UCX below Debian's MPICH catches mremap() and loses the new address, which the programs give.
set(promote_eager SUMAC_PROMOTE=eager UCX_MEM_EVENTS=no)
set(promote_auto SUMAC_PROMOTE=auto UCX_MEM_EVENTS=no)
sumac_mpi_test_programs(direct direct_windows direct_alloc alloc_mem)
sumac_mpi_test(direct RANKS 2 ARGS eager 100 ENV ${promote_eager})
sumac_mpi_test(direct_three PROGRAM direct RANKS 3 ARGS eager 50 2 ENV ${promote_eager}
               SLOW_FAMILIES mpich)
sumac_mpi_test(direct_few PROGRAM direct RANKS 5 FAMILIES openmpi ARGS eager 50 7
               ENV ${promote_eager})
sumac_mpi_test(direct_auto PROGRAM direct RANKS 3 FAMILIES openmpi ARGS auto 100 3
               ENV ${promote_auto} LABELS slow)
sumac_mpi_test(direct_off PROGRAM direct RANKS 3 ARGS off 200 4
               ENV SUMAC_PROMOTE=off UCX_MEM_EVENTS=no LABELS slow)
# Where ranks share processors, as here, levels are passive unless forced not to be.
sumac_mpi_test(direct_levels PROGRAM direct RANKS 5 ARGS levels 60 5
               ENV ${promote_eager} SUMAC_HIERARCHY=ranks:3,node
                   "SUMAC_ALGO=allreduce:levels\\\\\;reduce:levels\\\\\;bcast:levels")
sumac_mpi_test(direct_levels_long PROGRAM direct RANKS 5 7 ARGS levels 3000 6 SECONDS 900
               LABELS slow
               ENV ${promote_eager} SUMAC_HIERARCHY=ranks:3,node
                   "SUMAC_ALGO=allreduce:levels\\\\\;reduce:levels\\\\\;bcast:levels")
sumac_mpi_test(direct_budget PROGRAM direct RANKS 2 ARGS auto 2000 6 LABELS slow
               ENV ${promote_eager} SUMAC_PROMOTE_BUDGET=1M)
sumac_mpi_test(direct_long PROGRAM direct RANKS 2 3 ARGS eager 10000 8 SECONDS 900
               ENV ${promote_eager} LABELS slow)
sumac_mpi_test(direct_auto_long PROGRAM direct RANKS 2 5 ARGS auto 4000 9 SECONDS 900
               ENV ${promote_auto} LABELS slow)
# As on Linux 6.1 and 4.18.
foreach(lacks IN ITEMS queries advice)
  sumac_script_tests(
    direct_without_${lacks} PREFIX mpi SCRIPT ${passes} CASE on_host
    FAMILIES openmpi SUFFIX .3 SECONDS 80 LABELS mpi ENV ${promote_eager}
    ARGS $<TARGET_FILE:sumac_test_refuse> 60 3 ${lacks} all $<TARGET_FILE:mpi_test_direct_openmpi>
         eager 50 9)
endforeach()
sumac_mpi_test(direct_windows RANKS 2 3 ARGS 30 ENV ${promote_eager})
sumac_mpi_test(direct_windows_alone PROGRAM direct_windows RANKS 3 ARGS 30 3 25)
sumac_mpi_test(direct_windows_long PROGRAM direct_windows RANKS 4 7 ARGS 1000 2 SECONDS 600
               ENV ${promote_eager} LABELS slow)
# Memory that is born shared; no option is needed.
sumac_mpi_test(direct_alloc RANKS 1 2 3 5 ARGS sweep SLOW_FAMILIES mpich)
sumac_mpi_test(direct_alloc_random PROGRAM direct_alloc RANKS 2 3 ARGS random 150 1)
sumac_mpi_test(direct_alloc_promoted PROGRAM direct_alloc RANKS 3 ARGS random 150 2
               ENV ${promote_eager})
sumac_mpi_test(direct_alloc_threads PROGRAM direct_alloc RANKS 2 ARGS threads 60)
sumac_mpi_test(direct_alloc_rounds PROGRAM direct_alloc RANKS 2 ARGS rounds 10000)
sumac_mpi_test(direct_alloc_off PROGRAM direct_alloc RANKS 2 FAMILIES openmpi ARGS off
               ENV SUMAC_PROMOTE=off)
sumac_mpi_test(direct_alloc_levels PROGRAM direct_alloc RANKS 5 FAMILIES openmpi
               ARGS random 100 3 0
               ENV SUMAC_HIERARCHY=ranks:3,node
                   "SUMAC_ALGO=allreduce:levels\\\\\;reduce:levels\\\\\;bcast:levels")
sumac_mpi_test(direct_alloc_long PROGRAM direct_alloc RANKS 2 5 ARGS random 5000 4 4 SECONDS 600
               LABELS slow)
sumac_mpi_test(direct_once PROGRAM direct_alloc RANKS 2 FAMILIES openmpi ARGS once 2500
               ENV ${promote_auto})
sumac_mpi_test(direct_once_eager PROGRAM direct_alloc RANKS 2 ARGS once 20000 ENV ${promote_eager}
               SECONDS 300 LABELS slow)
sumac_mpi_test(direct_once_long PROGRAM direct_alloc RANKS 2 ARGS once 100000 SECONDS 600
               ENV ${promote_auto} LABELS slow)
sumac_mpi_test(alloc_mem RANKS 1 2 3 ARGS ${CMAKE_CURRENT_BINARY_DIR})
sumac_mpi_test(alloc_mem_sessions PROGRAM alloc_mem RANKS 2 ARGS session)
