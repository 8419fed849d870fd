#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages of debian-packages.txt that are missing: those before the line [check]; with
# --check, those before [all]; with --all, all of them.
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
  echo "  $(wanted_lines | xargs)" >&2
  exit 0
fi

# Prints the names of the wanted packages that are not installed, on one line.
missing_packages() {
  local wanted
  wanted=$(wanted_lines | xargs -n1 | sort)
  # shellcheck disable=SC2086,SC2016
  dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null |
    awk '$2 == "installed" { print $1 }' | sort -u | comm -23 <(echo "$wanted") - | xargs
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
  sudo -n true 2>/dev/null && return 0
  [ -t 0 ] && sudo -v
}

missing=$(missing_packages)
[ -z "$missing" ] && exit 0
if ! may_install; then
  echo "setup: missing packages; install them as root: apt-get install $missing" >&2
  exit 3
fi

install_packages() {
  as_root apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=300 "$@"
}

export DEBIAN_FRONTEND=noninteractive
echo "setup: installing $missing"
# shellcheck disable=SC2086
if ! install_packages $missing; then
  echo "setup: the package lists may be missing or old: updating them" >&2
  as_root apt-get update -qq
  install_packages $missing || exit 1
fi
left=$(missing_packages)
if [ -n "$left" ]; then
  echo "setup: these packages could not be installed: $left" >&2
  exit 1
fi
