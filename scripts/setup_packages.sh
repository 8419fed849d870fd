#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages of debian-packages.txt that are missing: those before the line [check]; with
# --check, those before [all]; with --all, all of them. Another user than root is asked before sudo
# is called, unless SUDO=yes or SUDO=no says the answer.
set -eu
export LC_ALL=C
list="$(dirname "$0")/debian-packages.txt"
case "${1:-}" in
  --all) end='^$' ;;
  --check) end='^\[all\]' ;;
  *) end='^\[check\]' ;;
esac
# The lines before the one that `end` matches.
wanted_lines() {
  sed -e "/$end/,\$d" -e 's/#.*//' -e '/^\[/d' "$list"
}

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system: make sure that the equivalents of these are installed:" >&2
  echo "  $(wanted_lines | sed 's/|.*//' | xargs)" >&2
  exit 0
fi

# Whether apt-get knows a package of this name that it can install.
is_known() {
  apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'
}

# Prints the names of the wanted packages that are not installed, on one line. Of several names for
# one package it prints the first that this system knows.
missing_packages() {
  local installed names name
  # shellcheck disable=SC2016
  installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' |
    awk '$2 == "installed" { print $1 }' | xargs) "
  for names in $(wanted_lines); do
    for name in ${names//|/ }; do
      [[ $installed == *" $name "* ]] && continue 2
    done
    for name in ${names//|/ } "${names%%|*}"; do
      if [ "$names" = "$name" ] || is_known "$name"; then break; fi
    done
    echo "$name"
  done | xargs
}

# Runs a command as root: directly, or through sudo when it asks for no password or can ask one.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

may_install() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null || return 1
  case "${SUDO:-}" in
    1 | yes | on | true) return 0 ;;
    ?*) return 1 ;;
  esac
  [ -t 0 ] || return 1
  printf 'setup: install them by sudo apt-get? [y/N] '
  read -r answer
  case $answer in [yY]*) return 0 ;; *) return 1 ;; esac
}

missing=$(missing_packages)
[ -z "$missing" ] && exit 0
echo "setup: these Debian packages are missing, and take some minutes to install: $missing"
if ! may_install; then
  echo "setup: missing packages; install them as root: apt-get install $missing" >&2
  command -v sudo >/dev/null && echo "  fix: or by sudo: the same command with SUDO=yes" >&2
  exit 3
fi

install_packages() {
  as_root apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=300 "$@"
}

export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! install_packages $missing; then
  echo "setup: the package lists may be missing or old: updating them" >&2
  as_root apt-get update -qq
  missing=$(missing_packages)
  install_packages $missing || exit 1
fi
left=$(missing_packages)
if [ -n "$left" ]; then
  echo "setup: these packages could not be installed: $left" >&2
  exit 1
fi
