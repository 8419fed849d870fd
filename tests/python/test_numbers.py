# SPDX-License-Identifier: BSD-3-Clause
"""Numbers on command lines that no command takes. Those of `sumac plan` are in
test_plan_numbers.py."""

import pytest

SIZE = "fix:   write a number of bytes, or 64K, 1M, 2G"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bench allreduce -b -8", f"'-8' is not a size\n  {SIZE}"),
        ("bench allreduce -b 8x", f"'8x' is not a size\n  {SIZE}"),
        ("bench allreduce -e 65G", "'65G' is more than 64G"),
        ("bench allreduce --sizes 8,99999999999999999999", "is more than 64G"),
        ("bench allreduce --seconds nan", "--seconds nan: not a number"),
        ("bench allreduce --seconds inf", "--seconds inf: more than 3600"),
        ("bench allreduce --timeout inf", "--timeout inf: more than 2147483647"),
        ("bench allreduce -n 0", "-n 0: less than 1"),
        ("bench allreduce -n 2.0", "-n 2.0: not a whole number"),
        ("bench allreduce -n 99999999999", "-n 99999999999: more than 131072"),
        ("bench allreduce --iterations 99999999999", "99999999999: more than 10000000"),
        ("bench allreduce --rounds 10001", "--rounds 10001: more than 10000"),
        ("bench allreduce -f 1", "-f 1: less than 2"),
        ("bench allreduce -f 99999999", "-f 99999999: more than 1048576"),
        ("bench allreduce --tests 1000001", "--tests 1000001: more than 1000000"),
        ("bench allreduce -r -1", "-r -1: less than 0"),
        ("bench allreduce --fail-below nan", "--fail-below nan: not a number"),
        ("tune -n 2,x", "-n 2,x: 'x' is not a number of ranks, 2 to 131072"),
        ("tune -n 2,99999999999", "'99999999999' is not a number of ranks, 2 to 131072"),
        ("tune --seconds nan", "--seconds nan: not a number"),
        ("simulate switch -n 2 --sizes 64G", "need more than this machine's memory"),
        ("simulate switch -n 2 --sizes 99999999999G", "is more than 64G"),
        ("simulate switch -n 2 --work inf", "--work inf: more than 2147483647"),
        ("simulate switch -n 2 --work nan", "--work nan: not a number"),
        ("simulate switch -n 99999999999", "more than 2147483647"),
        ("run -n -1 ./app", "-n -1: less than 1"),
        ("run -n 1e1 ./app", "-n 1e1: not a whole number"),
        ("run --timeout nan ./app", "--timeout nan: not a whole number"),
        ("check -n 999999999999", "-n 999999999999: more than 131072"),
        ("check --timeout nan", "--timeout nan: not a number"),
        ("doctor 99999999999999999999", "more than 2147483647"),
        ("profile --top 0 ./app", "--top 0: less than 1"),
    ],
)
def test_it_is_refused_before_anything_is_started(sandbox, sumac, monkeypatch, line, told):
    sandbox.add_launcher("mpiexec", "mpich")
    monkeypatch.setattr("sumac_mpi.simulate.smpi.command", lambda: None)
    monkeypatch.setattr("sumac_mpi.simulate.smpi.program", lambda: None)
    status, out, err = sumac(*line.split())
    assert (status, out, sandbox.launched()) == (2, "", [])
    assert err.startswith("sumac: error[bad-value]: ") and told in err
    assert err.count("error[") == 1 and "\n  fix:   " in err
