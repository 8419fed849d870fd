#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# slurm.sh COMMAND [ARGUMENTS]: starts munged, slurmctld and slurmd on the loopback interface, in a
# temporary folder with a configuration of its own, and runs the command in its environment. At the
# end, also by a signal, it ends all jobs and then the daemons. Returns the command's status, 1 if a
# process stays, 77 where Slurm is not installed or the user is not root.
#
# The node has $SLURM_TEST_CPUS (4) processors, however many the machine has.
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd srun mungekey; do
  if ! command -v "$program" >/dev/null; then
    echo "no $program: install slurm-wlm and munge"
    exit 77
  fi
done
if [ "$(id -u)" != 0 ]; then
  echo "slurmd starts processes of other users, so only root can run it"
  exit 77
fi
folder=$(mktemp -d /tmp/sumac-slurm-XXXXXX)
export SLURM_CONF="$folder/slurm.conf"
daemons=

# Ends steps first: the slurmstepd of a running step would stay behind its slurmd.
stop() {
  trap '' INT TERM
  for job in $(squeue -h -o %A 2>/dev/null); do scancel "$job" 2>/dev/null; done
  wait_until no_step_runs
  for daemon in $daemons; do kill "$daemon" 2>/dev/null; done
  wait_until nothing_runs && return 0
  echo "slurm: still running:"
  processes_left | while read -r process _; do
    tr '\0' ' ' <"/proc/$process/cmdline"
    kill -KILL "$process" 2>/dev/null
    echo
  done
  return 1
}

no_step_runs() { ! processes_left | grep -q slurmstepd; }

nothing_runs() { [ -z "$(processes_left)" ]; }

# The daemons of this cluster, and the processes slurmstepd: the configuration is in their
# environment, and the jobs' own processes have another name.
processes_left() {
  grep -lzsx "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ | while read -r file; do
    process=${file%/environ}
    case $(cat "$process/comm" 2>/dev/null) in
      munged | slurmctld | slurmd | slurmstepd) echo "${process#/proc/} $(cat "$process/comm")" ;;
    esac
  done
}

# wait_until CONDITION: true when it holds within 30 seconds.
wait_until() {
  looks=0
  until "$@"; do
    looks=$((looks + 1))
    [ "$looks" -lt 300 ] || return 1
    sleep 0.1
  done
}

# A port of the loopback interface that nothing listens on.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'
}

write_configuration() {
  host=$(hostname -s)
  cat >"$SLURM_CONF" <<EOF
ClusterName=sumac
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=${SLURM_TEST_CPUS:-4} State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:4
EOF
}

start() {
  mkdir -m 700 "$folder/munge" "$folder/state" "$folder/spool" || return 1
  mungekey --create --keyfile="$folder/munge/key" || return 1
  munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" \
    --log-file="$folder/munge/log" >"$folder/munge/out" 2>&1 &
  daemons=$!
  wait_until test -S "$folder/munge/socket" || return 1
  slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.out" 2>&1 &
  daemons="$! $daemons"
  slurmd -D -f "$SLURM_CONF" >"$folder/slurmd.out" 2>&1 &
  daemons="$! $daemons"
  wait_until node_is_idle
}

node_is_idle() { sinfo -h -o %T 2>/dev/null | grep -qx idle; }

# Reached also after a signal, whose status the shell passes on.
finish() {
  status=$?
  stop || status=1
  rm -rf "$folder"
  exit "$status"
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
write_configuration
if ! start; then
  echo "slurm: the daemons do not start"
  tail -n 20 "$folder"/*.log "$folder"/*.out "$folder"/munge/log "$folder"/munge/out
  exit 1
fi
"$@"
status=$?
[ "$status" = 0 ] || [ "$status" = 77 ] || tail -n 20 "$folder"/*.log
exit "$status"
