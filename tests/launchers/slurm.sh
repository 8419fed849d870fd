#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# slurm.sh slurm FAMILY LAUNCHER SUMAC PROGRAM: starts munged, slurmctld and slurmd on the loopback
# interface, in a temporary folder with a configuration of its own, and runs the program as steps
# and jobs of Slurm. At the end, also by a signal, it ends all jobs and then the daemons. The
# program is the probe of tests/environment, which checks its results.
#
# The node has $SLURM_TEST_CPUS (4) processors, however many the machine has.
. "$(dirname "$0")/../launch.sh"
PATH=$PATH:/usr/sbin:/sbin
folder=$scratch/slurm
export SLURM_CONF="$folder/slurm.conf"
daemons=

slurm() {
  for daemon in munged slurmctld slurmd srun mungekey; do
    needs "$daemon" 'slurm-wlm and munge'
  done
  [ "$(id -u)" = 0 ] || skip 'slurmd starts processes of other users, so only root can run it'
  mkdir "$folder"
  at_end=stop
  write_configuration
  if start; then
    steps_and_jobs
  else
    fail "the daemons do not start"
  fi
  [ "$failures" = 0 ] || tail -n 20 "$folder"/*.log "$folder"/*.out "$folder"/munge/*
  at_end=''
  stop || fail "daemons are still running"
}

steps_and_jobs() {
  export SUMAC_TEST_JOB="$job_mark" SUMAC_STATS=yes
  PATH=$tests/../.venv/bin:$PATH # the Python with what 'sumac run' needs
  limit="timeout -k 5 $(patient 60)"
  # Debian's Open MPI speaks to Slurm by PMIx, and its MPICH by PMI.
  case $family in
    openmpi) plugin=pmix ;;
    mpich) plugin=pmi2 ;;
  esac
  run $limit srun --mpi="$plugin" -n 3 "$sumac" exec -- "$program"
  expect_served
  batch "srun --mpi=$plugin $sumac exec -- $program"
  # The MPI's own launcher takes the allocation: as many ranks as it has.
  run $limit salloc -n 3 "$sumac" run -- "$program"
  expect_served
  expect_line SLURM_NTASKS # where the number of ranks is from
  batch "$sumac run -- $program"
  [ "$family" != mpich ] || wrong_plugin

  run $limit srun -K --mpi="$plugin" -n 3 "$sumac" exec -- "$program" kill
  [ "$status" != 0 ] || fail "a rank was killed, but the step ends with status 0"
  nothing_left || fail 'something is left'

  # Nobody waits for this job: it is ended before the daemons.
  unset SUMAC_TEST_JOB
  sbatch -n 1 -o /dev/null --wrap 'exec sleep 1000'
  wait_until 30 a_job_runs || fail "the last job does not start"
}
a_job_runs() { squeue -h -o %T | grep -q RUNNING; }

# The ranks were one job of three, results are right, and Sumac served its calls.
expect_served() {
  expect_status 0
  expect_line '^wrong 0$'
  expect_line 'sumac summary  rank 0 of 3'
  expect_line '^allreduce 16 flat_lines'
  expect_line '^allreduce 1048576 single_copy'
}

# batch COMMAND runs it as a job of three tasks.
batch() {
  printf '#!/bin/sh\n#SBATCH -n 3\n%s\n' "$1" >"$scratch/script"
  run $limit sbatch --wait -o "$scratch/output" "$scratch/script"
  cat "$scratch/output" >>"$out"
  expect_served
}

# With the wrong plugin, MPICH's ranks are so many jobs of one rank. (Open MPI's end by themselves.)
wrong_plugin() {
  for wrong in none pmix; do
    run $limit srun --mpi=$wrong -n 2 "$sumac" exec -- "$program"
    expect_line 'warning\[lone-ranks\]'
    expect_line 'srun --mpi=pmi2'
  done
}

# Ends steps first: the slurmstepd of a running step would stay behind its slurmd.
stop() {
  trap '' INT TERM
  for job in $(squeue -h -o %A 2>/dev/null); do scancel "$job" 2>/dev/null; done
  wait_until 30 no_step_runs
  for daemon in $daemons; do kill "$daemon" 2>/dev/null; done
  wait_until 30 nothing_runs && return 0
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

# processes_left prints the daemons of this cluster and the processes slurmstepd: the configuration
# is in their environment, and the jobs' own processes have another name.
processes_left() {
  grep -lzsx "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ | while read -r file; do
    process=${file%/environ}
    case $(cat "$process/comm" 2>/dev/null) in
      munged | slurmctld | slurmd | slurmstepd) echo "${process#/proc/} $(cat "$process/comm")" ;;
    esac
  done
}

# free_port prints a port of the loopback interface that nothing listens on.
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
  wait_until 30 test -S "$folder/munge/socket" || return 1
  slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.out" 2>&1 &
  daemons="$! $daemons"
  slurmd -D -f "$SLURM_CONF" >"$folder/slurmd.out" 2>&1 &
  daemons="$! $daemons"
  wait_until 30 node_is_idle
}
node_is_idle() { sinfo -h -o %T 2>/dev/null | grep -qx idle; }

run_job_case "$@"
