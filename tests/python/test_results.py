# SPDX-License-Identifier: BSD-3-Clause
import json

import pytest
import records
from sumac_mpi.base import files
from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.bench import results
from sumac_mpi.library.calls import PACK, Kind, collective, collectives, kind, names

pytestmark = pytest.mark.usefixtures("sandbox")  # its library contains the tables


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Open MPI v5.0.11, package: Open MPI", "Open MPI 5.0.11"),
        ("MPICH Version:\t4.0.2", "MPICH 4.0.2"),
        ("MPICH Version:      5.0.2", "MPICH 5.0.2"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS", "Intel MPI 2021.18"),
        ("Another MPI 1.0", "Another MPI 1.0"),
    ],
)
def test_mpi_names_are_short(text, name):
    assert results.short_mpi_name(text) == name


def test_a_run_is_built_record_by_record():
    run = results.Run(records.header())
    (row,) = run.add(records.size(4, 0.6, 0.2))
    assert row.speedup == 3
    assert run.add({"kind": "summary", "wrong": 0}) == []
    assert run.with_sumac and run.wrong == 0 and run.mpi_name == "Open MPI 4.1.4"


def test_nonblocking_rows():
    _, row = records.run(records.nonblocking()).rows
    assert (row.call, row.collective) == ("iallreduce", "allreduce")
    assert row.start_us("sumac") == 7.5 and row.blocking_us is None
    assert row.overlap("sumac")["percent"] == 62.5
    assert row.overlap("native", tests=True)["percent"] == 20


def test_persistent_rows():
    first, second = records.run(records.persistent()).rows
    assert first.against_blocking.median == 2
    assert second.against_blocking.median == pytest.approx(0.833, abs=0.01)
    assert first.overlap("sumac") is None and first.overlap("sumac", tests=True) is None


def test_records_from_before_there_were_kinds():
    run = records.run(records.session())
    assert run.kind is Kind.blocking and run.overlap is None and run.sumac_takes_part
    assert run.rows[0].start_us("native") is None and run.rows[0].against_blocking is None


def test_a_call_names_its_collective_and_its_kind():
    marked = {"i": Kind.nonblocking, "t": Kind.persistent}
    for call in names():
        end = "t" if call.endswith("-persistent") else call[0]
        assert kind(call) is marked.get(end, Kind.blocking)
        if call != PACK:
            assert call in (name := collective(call).name, f"i{name}", f"{name}-persistent")
    assert len(names()) == 3 * len(collectives()) + 2


def test_wrong_counts_what_a_program_would_get():
    run = records.run([records.header()])
    (row,) = run.add(records.size(4, 1, 1, wrong=2, wrong_native=5))
    assert row.wrong == 2
    (row,) = run.add(records.size(8, 1, None, wrong_native=5))
    assert row.wrong == 5 and row.sumac_us is None and row.speedup is None


def test_a_document_survives_saving(tmp_path):
    file = tmp_path / "r.json"
    run = records.run(records.session())
    files.show_json(results.document([run, run], {"cpu": "x"}, "2026-01-01"), file)
    assert json.loads(file.read_text())["format"] == 1
    first, second = results.load(file)
    assert first.as_dict() == second.as_dict() == run.as_dict()


def test_the_programs_output_can_be_loaded(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text("\n".join(map(json.dumps, records.session())))
    (run,) = results.load(file)
    assert [row.bytes for row in run.rows] == [4, 65536, 4194304]
    assert run.summary["geomean"] == 1.81


@pytest.mark.parametrize("text", ["", "{}", "[]", "hello", '{"runs": []}', '{"kind": "size"}', "1"])
def test_other_files_are_refused(tmp_path, text):
    file = tmp_path / "r.json"
    file.write_text(text)
    with pytest.raises(SumacError) as caught:
        results.load(file)
    assert caught.value.code == Exit.USAGE


def test_a_missing_file_is_a_usage_error(tmp_path):
    with pytest.raises(SumacError) as caught:
        results.load(tmp_path / "no.json")
    assert caught.value.code == Exit.USAGE


def test_incomplete_runs_stay_so(tmp_path):
    run = records.run(records.session()[:2])
    run.cut_by = "interrupted"
    files.show_json(results.document([run], {}, "", "interrupted"), tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["incomplete"] == "interrupted"
    (loaded,) = results.load(tmp_path / "r.json")
    assert loaded.cut_by == "interrupted" and len(loaded.rows) == 1
