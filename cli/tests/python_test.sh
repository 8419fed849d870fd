#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Commands that the Python package does: found in each way of installing, or said to be missing.
. "$(dirname "$0")/prefix.sh"

run "$sumac"
expect_status 0
expect_out "Usage: sumac COMMAND"
for command in exec run info check bench plot trace plan; do expect_out "  $command "; done
run "$sumac" --help
expect_out "Usage: sumac COMMAND"
run "$sumac" --version
expect_out "sumac $version"

run "$sumac" bench allreduce
expect_error 3 no-python
run "$sumac" plan allreduce 8 -n 2
expect_error 3 no-program
run "$sumac" bensh
expect_error 2 unknown-command
expect_err "'bensh' is not a command"
run env _SUMAC_COMPLETE=complete_bash "$sumac"
expect_error 3 no-python
expect_err "'sumac completion' needs"

write_package() {
  mkdir -p "$1"
  touch "$1/__init__.py"
  cat >"$1/__main__.py" <<'PYTHON'
import os, sys
print(sys.argv[1:], os.environ["SUMAC_ROOT"], os.path.dirname(__file__))
print("for the job:", os.environ.get("PYTHONPATH"), sys.flags.isolated, sys.flags.no_site)
sys.exit(4)
PYTHON
}

# In lib/sumac/python: run by the user's Python, which stays as it is.
package=$prefix/lib/sumac/python/sumac_mpi
write_package "$package"
run "$sumac" bench allreduce -n '2 3'
expect_status 4
expect_out "['bench', 'allreduce', '-n', '2 3'] $prefix $package"
expect_out "for the job: None 0 0"
run env _SUMAC_COMPLETE=complete_bash "$sumac"
expect_status 4
expect_out "[] $prefix $package"
run env PYTHONPATH="$scratch/elsewhere" "$sumac" frobnicate
expect_out "['frobnicate'] $prefix $package"
expect_out "for the job: $scratch/elsewhere 0 0"
run env PATH="$scratch" "$sumac" info
expect_error 3 no-python
expect_err "no python3 in PATH"

# Beside a Python: of the same environment, whatever the user's is.
printf '#!/bin/sh\necho beside "$@"\n' >"$prefix/bin/python3"
chmod +x "$prefix/bin/python3"
run env PATH="$scratch" "$sumac" info --json
expect_out "beside -I $package info --json"

# With the packages it needs, and the Python that they are for.
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$prefix/lib/sumac/python/python3"
run env PATH="$scratch" PYTHONPATH="$scratch" PYTHONHOME="$scratch/nowhere" "$sumac" info
expect_status 4
expect_out "['info'] $prefix $package"
expect_out "for the job: $scratch 1 1"
ln -sf "$scratch/python3.99" "$prefix/lib/sumac/python/python3"
run "$sumac" info
expect_error 3 no-python
expect_err "$scratch/python3.99, which it was installed for, is no longer there"
rm -r "$prefix/lib/sumac" "$prefix/bin/python3"

# In a wheel: the library is inside the package, which belongs to one version of Python.
mkdir "$scratch/bin"
printf '#!/bin/sh\nexec python3 "$@"\n' >"$scratch/bin/python3.99"
chmod +x "$scratch/bin/python3.99"
for site in "$prefix/lib/python3.99/site-packages" "$prefix/lib/python3.99/dist-packages"; do
  write_package "$site/sumac_mpi"
  mkdir "$site/sumac_mpi/lib"
  cp "$library" "$site/sumac_mpi/lib/libsumac.so"
  rm -f "$installed"
  run env PATH="$scratch/bin:$PATH" "$sumac" check
  expect_status 4
  expect_out "['check'] $site/sumac_mpi $site/sumac_mpi"
  run "$sumac" check
  expect_error 3 no-python
  expect_err "no python3.99 in PATH"
  rm -r "$site"
done
finish
