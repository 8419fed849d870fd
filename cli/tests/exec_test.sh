#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sumac exec becomes the program: its arguments, its status, and LD_PRELOAD as it should be.
. "$(dirname "$0")/prefix.sh"

run "$sumac" exec sh -c 'exit 3'
expect_status 3
expect_silence
run sh -c "\"$sumac\" exec -- sh -c 'kill -KILL \$\$'"
expect_status 137
run "$sumac" exec -- printf '[%s]' 'a b' '' '-x' '--help'
expect_status 0
expect_out "[a b][][-x][--help]"
expect_silence
run "$sumac" exec python3 -c 'import sys; print(sys.argv[1:])' one two
expect_out "['one', 'two']"
echo 'echo no first line; exit 5' >"$scratch/script"
chmod +x "$scratch/script"
run "$sumac" exec "$scratch/script"
expect_status 5
expect_out "no first line"

# LD_PRELOAD: alone, behind what is there, and once.
run "$sumac" exec sh -c 'echo "=$LD_PRELOAD="'
expect_out "=$installed="
tool=$prefix/lib/tool.so
cp "$library" "$tool"
run env LD_PRELOAD="$tool" "$sumac" exec sh -c 'echo "=$LD_PRELOAD="'
expect_out "=$tool:$installed="
run env LD_PRELOAD="$tool $installed" "$sumac" exec sh -c 'echo "=$LD_PRELOAD="'
expect_out "=$tool $installed="
run "$sumac" exec "$sumac" exec sh -c 'echo "=$LD_PRELOAD="'
expect_out "=$installed="

# Programs that cannot be run.
run "$sumac" exec no-such-program
expect_error 127 not-found
run "$sumac" exec ./no-such-program
expect_error 127 not-found
run "$sumac" exec ''
expect_error 127 not-found
echo text >"$scratch/text"
run "$sumac" exec "$scratch/text"
expect_error 126 not-executable
expect_no_line 'fix:'
run "$sumac" exec "$scratch"
expect_error 126 not-executable
expect_err "$scratch is a directory"
run env PATH="$scratch:$PATH" "$sumac" exec text
expect_error 126 not-executable
printf '#!/bin/sh\n' >"$scratch/lacks_permission"
cp "$scratch/lacks_permission" "$scratch/a.py"
run "$sumac" exec "$scratch/lacks_permission"
expect_error 126 not-executable
expect_err "fix:   chmod +x $scratch/lacks_permission"
run "$sumac" exec "$scratch/a.py"
expect_error 126 not-executable
expect_err "fix:   python3 $scratch/a.py"
cd "$scratch" || exit 1
run "$sumac" exec lacks_permission
expect_error 127 not-found
expect_err "fix:   chmod +x ./lacks_permission"
chmod +x lacks_permission
run "$sumac" exec lacks_permission
expect_error 127 not-found
expect_err "fix:   ./lacks_permission names the file in this directory"
cd - >/dev/null || exit 1
printf '#!/no/such/interpreter\n' >"$scratch/no_interpreter"
chmod +x "$scratch/no_interpreter"
run "$sumac" exec "$scratch/no_interpreter"
expect_error 126 not-executable
expect_err "found: the interpreter or loader that the file names is missing"
run env PATH="$programs::$PATH" "$sumac" exec needs_openmpi
expect_out "preload=$installed"

# Its own command line.
run "$sumac" exec
expect_error 2 usage
run "$sumac" exec --
expect_error 2 usage
for option in --frobnicate -q --help=no --set-; do
  run "$sumac" exec --set=CMA=off "$option" true
  expect_error 2 usage
  expect_err "$option: there is no such option of sumac exec"
done
run "$sumac" exec --sett=CMA=off true
expect_error 2 usage
expect_err "fix:   did you mean --set?"
run "$sumac" exec --set=CMA=off -qx true
expect_err "-q: there is no such option of sumac exec"
expect_err "mpiexec -n 4 sumac exec ./app"
for words in "exec --help" "help exec"; do
  # shellcheck disable=SC2086
  run "$sumac" $words
  expect_status 0
  expect_out "Usage: sumac exec"
done

# Another place, or none, for the library.
mkdir -p "$scratch/other/lib/sumac"
cp "$library" "$scratch/other/lib/sumac/libsumac.so"
run env SUMAC_ROOT="$scratch/other" "$sumac" exec "$programs/needs_openmpi"
expect_out "preload=$scratch/other/lib/sumac/libsumac.so"
run env SUMAC_ROOT="$scratch/nowhere" "$sumac" exec true
expect_error 125 no-library
expect_err "SUMAC_ROOT is set"
mkdir -p "$prefix/lib/python3.11/site-packages/sumac_mpi/lib"
mv "$installed" "$prefix/lib/python3.11/site-packages/sumac_mpi/lib/"
run "$sumac" exec "$programs/needs_openmpi"
expect_out "preload=$prefix/lib/python3.11/site-packages/sumac_mpi/lib/libsumac.so"
rm -r "$prefix/lib/python3.11"
run "$sumac" exec true
expect_error 125 no-library
mkdir -p "$scratch/a b/lib"
cp "$library" "$scratch/a b/lib/"
run env SUMAC_ROOT="$scratch/a b" "$sumac" exec true
expect_error 125 bad-path
finish
