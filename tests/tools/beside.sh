#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# beside.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: a tool that runs the program, with
# Sumac beside it. Status 77 where the tool is missing, or cannot work here.
. "$(dirname "$0")/../launch.sh"
folder=$scratch/folder
mkdir "$folder"
counts="Allreduce 50 Bcast 20 Reduce 10 Barrier 25"
seen=$counts

# right COMMAND...: two ranks of it end well, and Sumac has seen each call once.
right() {
  succeeds launch_plain 120 2 "$@"
  expect_line "sumac: $seen\$"
}

# It counts the program's calls, and each once.
in_eztrace() {
  needs eztrace eztrace
  needs otf2-print otf2-tools
  seen='Allreduce 50 Bcast 2[0-9] Reduce 10 Barrier 2[0-9]' # it makes some of its own, by PMPI_
  right eztrace -t "$family" -o "$folder/trace" "$sumac" exec -- "$program"
  traced >"$folder/regions"
  set -- $counts
  while [ $# -gt 0 ]; do
    grep -qx "$1 $2" "$folder/regions" || fail "not $2 of $1: $(cat "$folder/regions")"
    shift 2
  done
}
# The regions that both ranks entered, from the trace, as in $counts.
traced() {
  otf2-print "$folder"/trace/*/*.otf2 2>/dev/null | grep -a '^ENTER' |
    sed -n 's/.*Region: "MPI_\([A-Za-z]*\)".*/\1/p' | sort | uniq -c | awk '{ print $2, $1 / 2 }'
}

# It stops where it is told, and goes on.
in_gdb() {
  needs gdb gdb
  # gdb writes pieces of lines, so what each rank says goes through a file of its own.
  right sh -c '"$@" >"$0.$$" 2>&1
    status=$?
    cat "$0.$$"
    exit $status' "$scratch/rank" "$sumac" exec -- gdb -nx -batch \
    -ex 'set breakpoint pending on' -ex 'break main' -ex run -ex 'break MPI_Bcast' -ex continue \
    -ex backtrace -ex delete -ex continue --args "$program"
  for rank in "$scratch"/rank.*; do
    for line in 'Breakpoint 1, .*main' 'Breakpoint 2.*MPI_Bcast' '^#1 .* main' 'exited normally'
    do
      grep -q "$line" "$rank" || fail "a rank does not say '$line'"
    done
  done
}

# It reports no error that it does not report of the MPI alone.
in_valgrind() {
  needs valgrind valgrind
  mkdir "$folder/alone" "$folder/beside"
  succeeds launch_plain 120 2 valgrind --log-file="$folder/alone/%p" "$program"
  right "$sumac" exec -- valgrind --log-file="$folder/beside/%p" "$program"
  cat "$folder"/beside/* | grep -q 'ERROR SUMMARY' || fail "no summary"
  reports "$folder/alone" >"$folder/1"
  reports "$folder/beside" >"$folder/2"
  comm -13 "$folder/1" "$folder/2" >"$folder/new"
  [ ! -s "$folder/new" ] || fail "new reports: $(cat "$folder/new" "$folder"/beside/*)"
}
# reports FOLDER prints for each error of valgrind its kind and innermost two functions.
reports() {
  cat "$1"/* | sed 's/^==[0-9]*== *//' | awk '
    /^at 0x/ { if (kind != "") inner = kind ": " $3; kind = ""; next }
    /^by 0x/ { if (inner != "") print inner " " $3; inner = ""; next }
    /^Address/ { kind = ""; next } # where the memory is from, which is no error
    /^[A-Z]/ { kind = $1 " " $2 " " $3 " " $4 }' | sort -u
}

# clean_in_valgrind RANKS ARGUMENTS...: a program whose ranks run Sumac under valgrind, which must
# find nothing but what mpi.supp names.
clean_in_valgrind() {
  needs valgrind valgrind
  ranks=$1
  shift
  set -- "$program" "$@"
  for file in "$tests/sanitizers/mpi.supp" /usr/share/openmpi/openmpi-valgrind.supp; do
    [ ! -r "$file" ] || set -- "--suppressions=$file" "$@"
  done
  passes launch 300 "$ranks" valgrind -q --error-exitcode=9 --log-file="$folder/seen.%p" "$@"
  [ "$(find "$folder" -name 'seen.*' | wc -l)" = "$ranks" ] || fail 'not all ranks were watched'
  sed -n '/^==[0-9]*== \(WARNING: valgrind ignores.*\)*$/!p' "$folder"/seen.* >"$folder/errors"
  [ ! -s "$folder/errors" ] || fail "$(head -60 "$folder/errors")"
}

# The program is compiled with AddressSanitizer.
with_asan() {
  right env ASAN_OPTIONS=detect_leaks=0 "$sumac" exec -- "$program"
  expect_no_line AddressSanitizer
}

# It finds Sumac's functions by name.
in_perf() {
  needs perf linux-perf
  run perf record -e cpu-clock -o "$folder/try" true
  [ "$status" = 0 ] || skip 'perf may not record here'
  right sh -c 'exec perf record -q -e cpu-clock -F 5000 -o "$1/data.$$" "$2" exec -- "$3"' \
    sh "$folder" "$sumac" "$program"
  for data in "$folder"/data.*; do
    perf report --stdio -i "$data" --sort dso 2>/dev/null
  done >"$out"
  expect_out 'libsumac-'
}

# It is the program's memory allocator.
with_jemalloc() {
  jemalloc=$(PATH=$PATH:/sbin ldconfig -p | sed -n 's/.*libjemalloc\.so\.2.* => //p' | head -n 1)
  [ -n "$jemalloc" ] || skip 'there is no libjemalloc.so.2: install libjemalloc2'
  right env LD_PRELOAD="$jemalloc" "$sumac" exec -- "$program"
}

run_job_case "$@"
