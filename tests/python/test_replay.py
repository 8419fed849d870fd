# SPDX-License-Identifier: BSD-3-Clause
import shutil

import pytest
from sumac_mpi.base.errors import SumacError
from sumac_mpi.replay import classes, folder, results, simulated, table


def write(path, rank, ranks, version=1, family="openmpi"):
    path.mkdir(exist_ok=True)
    file = path / f"rank-{rank}.calls"
    file.write_text(
        f"sumac-record {version}\nrank {rank} of {ranks}\nby 0.1.0 {family} An MPI\nbegan 1\n"
    )
    return file


class TestFolder:
    def test_all_ranks_of_one_job(self, tmp_path):
        for rank in range(12):
            write(tmp_path, rank, 12, family="mpich")
        (tmp_path / "notes.txt").write_text("mine")
        found = folder.load(tmp_path)
        assert (found.ranks, found.family) == (12, "mpich")

    def test_no_record(self, tmp_path):
        for path in (tmp_path, tmp_path / "none"):
            with pytest.raises(SumacError) as error:
                folder.load(path)
            assert (error.value.slug, int(error.value.code)) == ("no-record", 1)

    @pytest.mark.parametrize(
        "change, says",
        [
            (lambda path: (path / "rank-1.calls").unlink(), "lacks the files of 1 of 3"),
            (lambda path: write(path, 1, 3, version=2), "has version 2"),
            (lambda path: write(path, 1, 4), "of several jobs"),
            (lambda path: write(path, 1, 3, family="mpich"), "of several jobs"),
            (lambda path: write(path, 3, 5), "of several jobs"),
            (lambda path: (path / "rank-1.calls").write_text(""), "is no file of a record"),
            (lambda path: (path / "rank-1.calls").write_bytes(b"\xff" * 5000), "no file of a"),
            (lambda path: shutil.copy(path / "rank-0.calls", path / "rank-2.calls"), "no file"),
        ],
    )
    def test_bad_record(self, tmp_path, change, says):
        for rank in range(3):
            write(tmp_path, rank, 3)
        change(tmp_path)
        with pytest.raises(SumacError) as error:
            folder.load(tmp_path)
        assert (error.value.slug, int(error.value.code)) == ("bad-record", 2)
        assert says in str(error.value)


def calls(bytes_, mpi_us, sumac_us, **others):
    return {
        "kind": "class", "function": "bcast", "form": "nonblocking", "ranks": 2, "bytes": bytes_,
        "calls": 4, "mpi_us": mpi_us, "sumac_us": sumac_us, "wrong": 0,
    } | others  # fmt: skip


HEADER = {"kind": "header", "mpi": "An MPI", "ranks": 2, "calls": 12, "left_out": 0, "cut": 3,
          "passes": 4}  # fmt: skip


class TestResults:
    def test_sizes_within_a_power_of_two_are_one_row(self):
        rows = results.collect(
            HEADER,
            [calls(0, 1.0, 1.0), calls(1023, 2.0, 1.0), calls(512, 3.0, 1.5), calls(1024, 9, 3)],
            {"wrong": 0},
        ).rows
        assert [(row.smallest, row.largest, row.calls) for row in rows] == [
            (1024, 1024, 4), (512, 1023, 8), (0, 0, 4)
        ]  # fmt: skip
        assert rows[1].speedup == 2.0 and rows[1].name == "ibcast"

    def test_one_way_alone(self):
        summary = {"wrong": 0, "mpi_us": 5.0, "sumac_us": None, "rounds": 2}
        found = results.read([HEADER, calls(8, 5.0, None), summary | {"kind": "summary"}], print)
        assert found.rows[0].sumac_us is None and found.rows[0].speedup is None
        assert "by the MPI in 2 rounds" in table.title(found)
        assert list(table.notes(found)) == [
            "left out: 3 calls at the end that other ranks' records do not have any more"
        ]
        assert table.table(found).row_count == 2

    def test_a_job_that_ends_early(self):
        with pytest.raises(SumacError):
            results.read([HEADER], print)


def test_usage(sumac, tmp_path):
    for rank in range(2):
        write(tmp_path, rank, 2)
    for words, says in (
        (["--with", "mpi,them"], "--with them"),
        (["--with", ","], "nobody is named"),
        (["--hosts", "a:3"], "the record is of 2"),
        (["--memory", "lots"], "not a size"),
    ):
        status, _, err = sumac("replay", str(tmp_path), *words)
        assert status == 2 and says in err


def test_calls_are_counted_by_class(tmp_path):
    file = write(tmp_path, 0, 4)
    with file.open("a") as lines:
        lines.write(
            "c 0 0-3 MPI_COMM_WORLD\nc 1 0,2-3 a name\nc 2 outside\nc 3 0\n"
            "o 0 sum\nt 0 named MPI_DOUBLE\nt 1 vector 3 3 2 4 0\nt 2 struct 5 2 1 3 0 8 0 1\n"
            "s 0 allreduce blocking c=0 op=0 s== r=64,10,0\nb 0 5 5\nb 0 5 5\n"
            "s 1 bcast nonblocking c=1 root=0 r=0,2,1\ni 1 0 5 5\nw 0 5 5\n"
            "s 2 reduce persistent c=0 root=1 op=0 s=0,3,2\np 2 1 5 5\ng 1 5 5\nw 1 5 5\n"
            "g 1 7 7 5 5\nf 1\ns 3 barrier blocking c=0\nb 3 1 1\n"
            "s 4 alltoall blocking c=0 s=0,1,0 r=64,1,0\nb 4 1 1\n"
            "s 5 barrier blocking c=2\nb 5 1 1\ns 6 barrier blocking c=3\nb 6 1 1\n"
            "s 7 allreduce blocking c=0 op=0 s=0,12,0 r=64,12,0\nb 7 5 5\nb 7 5"
        )
    found, others = classes.count(file)
    assert others == 3
    assert found == [
        classes.Class("allreduce", False, 4, round((80 * 2 + 96) / 3), 3),
        classes.Class("barrier", False, 4, 0, 1),
        classes.Class("bcast", True, 3, 2 * 6 * 8, 1),
        classes.Class("reduce", True, 4, 3 * (8 + 3 * 48), 2),
    ]
    with file.open("a") as lines:
        lines.write("\nb 99 1 1\n")
    with pytest.raises(SumacError) as error:
        classes.count(file)
    assert error.value.slug == "bad-record"


def test_classes_become_simulations():
    jobs = simulated.jobs(
        "fat-tree",
        [
            classes.Class("allreduce", False, 4, 7, 3),
            classes.Class("allreduce", False, 4, 1001, 3),
            classes.Class("allreduce", False, 8, 8, 3),
            classes.Class("barrier", True, 4, 0, 3),
        ],
    )
    assert [(job.collective, job.ranks, job.sizes, job.nonblocking) for job, _ in jobs] == [
        ("allreduce", 4, (8, 1000), False),
        ("allreduce", 8, (8,), False),
        ("barrier", 4, (), True),
    ]
