#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# deb_test.sh BUILD: makes Debian packages of the build, twice with the same bits, lets lintian
# check them, installs them in a Debian that debootstrap makes, uses them there (deb_use.sh) and
# purges them. Status 77 where this cannot be done: not root, no debootstrap, or no network. All
# that it starts is in a PID namespace of its own.
build=$1
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
if [ "${SUMAC_TEST_DEB:-}" != inside ]; then
  for program in debootstrap dpkg-buildpackage dh; do
    command -v "$program" >/dev/null || {
      echo "no $program: install debootstrap, dpkg-dev and debhelper"
      exit 77
    }
  done
  [ "$(id -u)" = 0 ] && unshare --mount --pid --fork true || {
    echo "no namespaces for this user"
    exit 77
  }
  folder=$(mktemp -d /var/tmp/sumac-deb-XXXXXX)
  trap 'rm -rf --one-file-system "$folder"' EXIT
  trap 'exit 143' INT TERM
  SUMAC_TEST_DEB=inside SUMAC_TEST_FOLDER=$folder \
    unshare --mount --pid --fork --mount-proc --kill-child sh "$0" "$@"
  exit
fi
folder=$SUMAC_TEST_FOLDER root=$SUMAC_TEST_FOLDER/root
# Of this system, where a mirror or a proxy may be configured.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")

export SOURCE_DATE_EPOCH=1700000000
for each in deb again; do
  "$source/scripts/build_deb.sh" --build "$build" --output "$folder/$each" || exit 1
done
for package in "$folder"/deb/*.deb; do
  cmp "$package" "$folder/again/${package##*/}" || exit 1
done
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$folder"/deb/*.deb || exit 1
else
  echo "no lintian: what Debian's policy asks of packages is not checked"
fi
debootstrap --variant=minbase "$codename" "$root" "$mirror" >"$folder/log" 2>&1 || {
  tail -n 5 "$folder/log"
  grep -q -i 'failed getting release\|unable to\|could not' "$folder/log" && exit 77
  exit 1
}
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
for file in /etc/resolv.conf /etc/hosts /etc/apt/apt.conf.d/*proxy*; do
  [ -e "$file" ] && cp "$file" "$root$file"
done
cp "$folder"/deb/sumac_*.deb "$root/sumac.deb"
cp "$folder"/deb/sumac-plot_*.deb "$root/sumac-plot.deb"
mkdir "$root/tests"
cp -r "$source/tests/consumer" "$source/tests/environment/probe.c" "$here/deb_use.sh" "$root/tests"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" sh /tests/deb_use.sh
