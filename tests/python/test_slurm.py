# SPDX-License-Identifier: BSD-3-Clause
import pytest
from sumac_mpi.launch import hosts
from sumac_mpi.launch.hosts import Allocation


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"NTASKS": "4"}, None),
        ({"JOB_ID": "7"}, None),
        ({"JOB_ID": "7", "NTASKS": "4"}, (4, 4, "SLURM_NTASKS=4")),
        ({"JOB_ID": "7", "NTASKS": "5", "JOB_NUM_NODES": "2"}, (5, 3, "SLURM_NTASKS=5")),
        (
            {"JOB_ID": "7", "NTASKS": "11", "JOB_NUM_NODES": "3", "TASKS_PER_NODE": "4(x2),3"},
            (11, 4, "SLURM_NTASKS=11"),
        ),
        (
            {"JOB_ID": "7", "JOB_NUM_NODES": "3", "TASKS_PER_NODE": "3,16(x2)"},
            (35, 16, "SLURM_TASKS_PER_NODE=3,16(x2)"),
        ),
        ({"JOB_ID": "7", "NTASKS": "many", "TASKS_PER_NODE": "x"}, None),
        # A job script that srun has started once; and each of four tasks, which must not start four
        # ranks each.
        ({"JOB_ID": "7", "NTASKS": "4", "STEP_NUM_TASKS": "1"}, (4, 4, "SLURM_NTASKS=4")),
        ({"JOB_ID": "7", "NTASKS": "4", "STEP_NUM_TASKS": "4"}, None),
    ],
)
def test_what_is_allocated(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    assert hosts.allocation() == (Allocation(*expected) if expected else None)


def test_the_number_of_ranks_is_said(monkeypatch, capsys):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_NTASKS", "6")
    assert hosts.number_of_ranks(None, None) == 6
    assert capsys.readouterr().err == "sumac: 6 ranks, as SLURM_NTASKS=6\n"
    assert hosts.number_of_ranks(2, None) == 2
    assert hosts.number_of_ranks(None, hosts.parse("a:2,b")) == 3
    assert capsys.readouterr().err == ""
