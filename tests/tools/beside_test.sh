#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# beside_test.sh CASE FAMILY LAUNCHER SUMAC PROGRAM: a tool that runs the program, with Sumac beside
# it. Status 77 where the tool is missing, or cannot work here.
#   eztrace   counts the program's calls, and each once
#   gdb       stops where it is told, and goes on
#   valgrind  reports no error that it does not report of the MPI alone
#   asan      the program is compiled with AddressSanitizer
#   perf      finds Sumac's functions by name
#   jemalloc  is the program's memory allocator
case=$1 family=$2 launcher=$3 sumac=$4 program=$5
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
counts="Allreduce 50 Bcast 20 Reduce 10 Barrier 25"
seen=$counts

fail() {
  echo "$case: $1"
  tail -n 60 "$folder/output"
  exit 1
}

needs() {
  command -v "$1" >/dev/null && return
  echo "no $1: install $2"
  exit 77
}

# right COMMAND...: two ranks of it end well, and Sumac has seen each call once.
right() {
  launch_plain 120 2 "$@" >"$folder/output" 2>&1 || fail "status $?"
  grep -q "sumac: $seen\$" "$folder/output" || fail "not 'sumac: $seen'"
}

# The regions that both ranks entered, from the trace, as in $counts.
traced() {
  otf2-print "$folder"/trace/*/*.otf2 2>/dev/null | grep -a '^ENTER' |
    sed -n 's/.*Region: "MPI_\([A-Za-z]*\)".*/\1/p' | sort | uniq -c | awk '{ print $2, $1 / 2 }'
}

# reports FOLDER: for each error of valgrind its kind and innermost two functions.
reports() {
  cat "$1"/* | sed 's/^==[0-9]*== *//' | awk '
    /^at 0x/ { if (kind != "") inner = kind ": " $3; kind = ""; next }
    /^by 0x/ { if (inner != "") print inner " " $3; inner = ""; next }
    /^Address/ { kind = ""; next } # where the memory is from, which is no error
    /^[A-Z]/ { kind = $1 " " $2 " " $3 " " $4 }' | sort -u
}

case $case in
eztrace)
  needs eztrace eztrace
  needs otf2-print otf2-tools
  seen='Allreduce 50 Bcast 2[0-9] Reduce 10 Barrier 2[0-9]' # it makes some of its own, by PMPI_
  right eztrace -t "$family" -o "$folder/trace" "$sumac" exec -- "$program"
  for word in $counts; do
    case $word in
    [0-9]*) traced | grep -qx "$name $word" || fail "not $word of $name: $(traced)" ;;
    *) name=$word ;;
    esac
  done
  ;;
gdb)
  needs gdb gdb
  right "$sumac" exec -- gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break main' -ex run \
    -ex 'break MPI_Bcast' -ex continue -ex backtrace -ex delete -ex continue --args "$program"
  for line in 'Breakpoint 1, .*main' 'Breakpoint 2.*MPI_Bcast' '^#1 .* main' 'exited normally'; do
    [ "$(grep -c "$line" "$folder/output")" -ge 2 ] || fail "not twice '$line'"
  done
  ;;
valgrind)
  needs valgrind valgrind
  mkdir "$folder/alone" "$folder/beside"
  launch_plain 120 2 valgrind --log-file="$folder/alone/%p" "$program" >"$folder/output" 2>&1 ||
    fail "without Sumac: status $?"
  right "$sumac" exec -- valgrind --log-file="$folder/beside/%p" "$program"
  cat "$folder"/beside/* | grep -q 'ERROR SUMMARY' || fail "no summary"
  reports "$folder/alone" >"$folder/1"
  reports "$folder/beside" >"$folder/2"
  comm -13 "$folder/1" "$folder/2" >"$folder/new"
  if [ -s "$folder/new" ]; then
    cat "$folder/new" "$folder"/beside/* >"$folder/output"
    fail "new reports"
  fi
  ;;
asan)
  right env ASAN_OPTIONS=detect_leaks=0 "$sumac" exec -- "$program"
  grep -q AddressSanitizer "$folder/output" && fail "reports"
  ;;
perf)
  needs perf linux-perf
  perf record -e cpu-clock -o "$folder/try" true >/dev/null 2>&1 || {
    echo "perf may not record here"
    exit 77
  }
  right sh -c 'exec perf record -q -e cpu-clock -F 5000 -o "$1/data.$$" "$2" exec -- "$3"' \
    sh "$folder" "$sumac" "$program"
  for data in "$folder"/data.*; do
    perf report --stdio -i "$data" --sort dso 2>/dev/null
  done >"$folder/output"
  grep -q 'libsumac-' "$folder/output" || fail "nothing of libsumac-$family.so"
  ;;
jemalloc)
  jemalloc=$(PATH=$PATH:/sbin ldconfig -p | sed -n 's/.*libjemalloc\.so\.2.* => //p' | head -n 1)
  [ -n "$jemalloc" ] || {
    echo "no libjemalloc.so.2: install libjemalloc2"
    exit 77
  }
  right env LD_PRELOAD="$jemalloc" "$sumac" exec -- "$program"
  ;;
esac
nothing_left
