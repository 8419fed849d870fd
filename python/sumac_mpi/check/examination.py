# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac check` examines, and in which order."""

from __future__ import annotations

from sumac_mpi.base.errors import Exit, SumacError
from sumac_mpi.check import surroundings, trial
from sumac_mpi.check.surroundings import Findings
from sumac_mpi.launch import application, installations, launcher, mpi_words, programs
from sumac_mpi.library import layout, options


def examine(
    findings: Findings,
    command: list[str],
    ranks: int,
    mpi: str | None,
    launcher_name: str | None,
    timeout: float,
) -> None:
    """Makes the examination. An error ends it; earlier findings are kept."""
    installation = _installation(findings)
    _options(findings, installation)
    surroundings.processors(findings, ranks)
    surroundings.processes(findings, ranks)
    surroundings.shared_memory(findings, ranks)
    surroundings.locked_memory(findings)
    if command:
        subjects = _of_families(_program(findings, command, mpi, launcher_name))
    else:
        subjects = _subjects(installation, mpi or mpi_words.ALL, launcher_name)
    for subject in subjects:
        trial.examine(findings, installation, subject, ranks, launcher_name, timeout)


def _subjects(
    installation: layout.Installation, wanted: str, launcher_name: str | None
) -> list[trial.Subject]:
    """All MPIs of PATH, or those of them that the wanted name means, else of the wheels that Sumac
    has fetched. A named launcher, and a name that no MPI here has, stand for a family."""
    mpis = installations.in_path()
    if wanted != mpi_words.ALL:
        mpis = _called(wanted, mpis) or _called(wanted, installations.found())
    built = installation.families("check")
    mpis = [mpi for mpi in mpis if mpi.family in built]
    if launcher_name or not mpis:
        return _of_families(programs.choose_families(installation, "check", wanted))
    names = [_name(mpi) for mpi in mpis]
    return [
        trial.Subject(name if names.count(name) == 1 else mpi.launcher.version, mpi.family, mpi)
        for name, mpi in zip(names, mpis, strict=True)
    ]


def _called(wanted: str, mpis: list[installations.Mpi]) -> list[installations.Mpi]:
    return [mpi for mpi in mpis if installations.is_called(mpi, wanted.lower())]


def _name(mpi: installations.Mpi) -> str:
    return "Intel MPI" if mpi.name == installations.INTEL else layout.FAMILIES[mpi.family]


def _of_families(families: list[str]) -> list[trial.Subject]:
    return [trial.Subject(layout.FAMILIES[family], family) for family in families]


def _installation(findings: Findings) -> layout.Installation:
    installation = layout.find()
    if not installation.library.exists():
        raise layout.missing("the Sumac library", installation.library)
    if not surroundings.refuses_code(findings, "installation", installation.library):
        findings.ok("installation", f"{installation.library}, {installation.command}")
    return installation


def _options(findings: Findings, installation: layout.Installation) -> None:
    complaint = options.check_environment(installation)
    if complaint:
        findings.fail(
            "options",
            "a SUMAC_ variable cannot be understood",
            complaint,
            "correct or unset it",
            Exit.USAGE,
        )
        return
    rows = [option for option in options.load(installation) if option.source != "default"]
    findings.ok("options", ", ".join(map(_setting, rows)) or "all default")


def _setting(option: options.Option) -> str:
    text = f"{option.variable}={option.value}"
    return text if option.source == "environment" else f"{text} ({option.source})"


def _program(
    findings: Findings, command: list[str], mpi: str | None, launcher_name: str | None
) -> list[str]:
    """The MPI family that the program needs; none if there is nothing to try."""
    app = application.find(command)
    if app.static:
        findings.fail(
            "program",
            f"{app.path} is linked statically",
            "nothing can be loaded in front of its MPI: it runs as without Sumac",
            "link it without -static, to the shared library of its MPI",
        )
        return []
    linked = app.mpi if app.certain or not (mpi or launcher_name) else None
    try:
        chosen = launcher.choose(app.name, linked, mpi, launcher_name)
    except SumacError as error:
        findings.error("launcher", error)
        return []
    if surroundings.refuses_code(findings, "program", app.path):
        pass
    elif app.mpi:
        seen = f"{app.path} needs {app.mpi.soname}; its launcher is {chosen.path}"
        findings.ok("program", seen)
    else:
        findings.warn(
            "program",
            app.no_mpi,
            "it may be a script, have its MPI linked in statically, or load it while it runs; "
            "Sumac can only serve an MPI that is loaded as a shared library",
            "install mpi4py for this Python, or name the Python that has it"
            if app.is_python
            else "name the program itself, or link it to the shared library of its MPI",
        )
    family = chosen.family if linked is None else linked.family
    return [family] if family else []
