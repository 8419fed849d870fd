# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced. make_memory_group BYTES: makes a control group below this process's own with that limit
# of memory, and no swap, and prints its folder. Fails where it may not.

# The folder of this process's group, of version 1 or 2.
own_memory_group() {
  line=$(grep ':memory:' /proc/self/cgroup)
  if [ -n "$line" ]; then
    echo "/sys/fs/cgroup/memory/${line#*:memory:/}"
  else
    line=$(grep '^0::' /proc/self/cgroup)
    echo "/sys/fs/cgroup/${line#0::/}"
  fi
}

make_memory_group() {
  made=$(own_memory_group)/sumac-test-$$
  mkdir "$made" 2>/dev/null || return 1
  for limit in memory.max memory.limit_in_bytes; do
    [ -w "$made/$limit" ] && echo "$1" >"$made/$limit" 2>/dev/null || continue
    for swap in memory.swap.max memory.swappiness; do
      if [ -w "$made/$swap" ]; then echo 0 >"$made/$swap"; fi
    done
    echo "$made"
    return 0
  done
  rmdir "$made"
  return 1
}
