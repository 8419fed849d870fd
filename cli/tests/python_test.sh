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
expect_out "sumac 0.1.0"

run "$sumac" bench allreduce
expect_error 3 no-python
run "$sumac" plan allreduce 8 -n 2
expect_error 3 no-program
run "$sumac" bensh
expect_error 2 unknown-command
expect_err "'bensh' is not a command"

write_package() {
  mkdir -p "$1"
  touch "$1/__init__.py"
  cat >"$1/__main__.py" <<'PYTHON'
import os, sys
print(sys.argv[1:], os.environ["SUMAC_ROOT"], os.path.dirname(__file__))
sys.exit(4)
PYTHON
}

# In lib/sumac/python, found by PYTHONPATH in front of what is there.
package=$prefix/lib/sumac/python/sumac_mpi
write_package "$package"
run "$sumac" bench allreduce -n '2 3'
expect_status 4
expect_out "['bench', 'allreduce', '-n', '2 3'] $prefix $package"
run env PYTHONPATH="$scratch/elsewhere" "$sumac" frobnicate
expect_out "['frobnicate'] $prefix $package"
run env PATH="$scratch" "$sumac" info
expect_error 3 no-python
expect_err "no python3 in PATH"
printf '#!/bin/sh\necho beside "$@"\n' >"$prefix/bin/python3"
chmod +x "$prefix/bin/python3"
run env PATH="$scratch" "$sumac" info --json
expect_out "beside -m sumac_mpi info --json"
rm -r "$prefix/lib/sumac" "$prefix/bin/python3"

# In a wheel: the library is inside the package, which Python finds by itself.
site=$prefix/lib/python3.99/site-packages
write_package "$site/sumac_mpi"
mkdir "$site/sumac_mpi/lib"
mv "$installed" "$site/sumac_mpi/lib/"
run env PYTHONPATH="$site" "$sumac" check
expect_status 4
expect_out "['check'] $site/sumac_mpi $site/sumac_mpi"
finish
