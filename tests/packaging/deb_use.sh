#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs in a new Debian: installs /sumac.deb, uses it under both MPIs, draws with /sumac-plot.deb,
# and purges both. Needs /tests/consumer and /tests/probe.c.
set -eu
export DEBIAN_FRONTEND=noninteractive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none SUMAC_ADAPT=off
# shellcheck disable=SC2154
trap 'status=$?; [ $status = 0 ] || echo "deb_use.sh: failed at: $step"' EXIT

# Lists all that packages may install, without logs, caches and the lists of packages.
installed() {
  find /etc /opt /srv /usr /var -xdev \( -path /var/log -o -path /var/cache -o -path /var/lib/dpkg \
    -o -path /var/lib/apt \) -prune -o -print | sort
}

step="the package installs with its dependencies"
apt-get update -qq
apt-get install -qq -y --no-install-recommends /sumac.deb
sumac --version
sumac info >/info # without an MPI
apt-get install -qq -y --no-install-recommends man-db openmpi-bin libopenmpi-dev mpich \
  libmpich-dev gcc libc6-dev make cmake pkgconf zsh

step="purging after so little use leaves nothing"
apt-get purge -qq -y sumac
installed >/before
if grep -i sumac /before; then exit 1; fi
apt-get install -qq -y --no-install-recommends /sumac.deb

step="sumac --version is the package's"
[ "sumac $(dpkg-query -W -f '${Version}' sumac)" = "$(sumac --version | head -1)" ]

step="sumac info finds both MPIs and the back ends"
sumac info | tee /info
grep -q 'back ends: openmpi, mpich' /info

step="the manual"
for page in 1/sumac 1/sumac-run 7/sumac; do man -w "${page%/*}" "${page#*/}"; done
man 7 sumac | grep -q SUMAC_STATS

step="shells find the completion"
bash -c '. /usr/share/bash-completion/completions/sumac && complete -p sumac'
zsh -c 'autoload -Uz compinit && compinit -u -D && echo "$_comps[sumac]"' | grep -qx _sumac

# served FILE: results are right, and Sumac served the calls.
served() {
  cat "$1"
  grep -q '^wrong 0$' "$1"
  grep -q '^allreduce 16 flat_lines' "$1"
}

cd /tmp
for family in openmpi mpich; do
  case $family in
    openmpi) mpi=-lmpi ;;
    mpich) mpi=-lmpich ;;
  esac
  step="collectives of two ranks under $family"
  "mpicc.$family" /tests/probe.c -o "probe-$family" -ldl
  timeout 300 "mpiexec.$family" -n 2 sumac exec -- "./probe-$family" >out 2>&1
  served out
  timeout 300 sumac run -n 2 -- "./probe-$family" >out 2>&1
  served out
  step="sumac check under $family"
  timeout 300 sumac check -n 2 --mpi "$family"

  step="a project with find_package(sumac) under $family"
  cmake -S /tests/consumer -B "cmake-$family" -DMPI_C_COMPILER="mpicc.$family" >/dev/null
  cmake --build "cmake-$family" >/dev/null
  timeout 60 "mpiexec.$family" -n 2 "cmake-$family/in_c" | grep -q '^sum 1 .*, active 0$'

  step="pkg-config under $family"
  # shellcheck disable=SC2046
  "mpicc.$family" /tests/consumer/app.c -o by-pkg-config "$mpi" $(pkg-config --cflags --libs sumac)
  timeout 60 "mpiexec.$family" -n 2 ./by-pkg-config | grep -q '^sum 1 .*, active 0$'

  step="plain make under $family"
  cp -r /tests/consumer "make-$family"
  make -C "make-$family" MPICC="mpicc.$family" MPI="$mpi" SUMAC=/usr
  timeout 60 "mpiexec.$family" -n 2 "make-$family/app" | grep -q '^sum 1 .*, active 0$'
done

step="a picture"
timeout 300 sumac bench allreduce -n 2 --mpi mpich -e 64 --iterations 3 --rounds 1 \
  --json=results.json
if timeout 300 sumac plot results.json -o picture.png 2>out; then exit 1; fi
grep sumac-plot out
apt-get install -qq -y --no-install-recommends /sumac-plot.deb
timeout 300 sumac plot results.json -o picture.png
test -s picture.png

step="a user who may not write there"
timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups sumac info >/dev/null

step="purging leaves nothing"
apt-get purge -qq -y sumac sumac-plot
installed | diff /before -
ls /dev/shm
[ -z "$(ls /dev/shm)" ]
