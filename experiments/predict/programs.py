# SPDX-License-Identifier: BSD-3-Clause
"""Programs that nobody here wrote: what each needs, and how it is started in its folder."""

import pathlib
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
RIGID = pathlib.Path("/usr/share/lammps/examples/rigid")
PACKAGES = ("mpi4py", "pylops-mpi")


class Missing(Exception):
    """The program is not there; the message says how to get it."""


def hpcg(folder, given):
    """HPCG: conjugate gradients with a multigrid preconditioner, 16^3 points a rank."""
    found = given.hpcg or shutil.which("xhpcg")
    if not found:
        raise Missing("no xhpcg: no package has it; build it from its source, and give --hpcg PATH")
    return [str(found), "--nx=16", "--ny=16", "--nz=16", "--rt=2"]


def hpcc(folder, given):
    """The HPC Challenge: HPL, PTRANS, RandomAccess, FFT and others on a matrix of 1000 x 1000."""
    found = shutil.which("hpcc")
    if not found or not HPCC_INPUT.exists():
        raise Missing("no hpcc: install Debian's package")
    lines = HPCC_INPUT.read_text(encoding="utf-8").splitlines()
    for number, value in {5: "1000 ", 7: "64 ", 10: "1 ", 11: "2 "}.items():
        lines[number] = value + lines[number]
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)  # the program adds to it
    return [found]


def lammps(folder, given):
    """LAMMPS, its example of nine rigid bodies, twenty times as many steps."""
    found = shutil.which("lmp")
    if not found or not RIGID.exists():
        raise Missing("no lmp: install Debian's lammps and lammps-examples")
    text = (RIGID / "in.rigid").read_text(encoding="utf-8")
    (folder / "in.rigid").write_text(text.replace("\nrun", "\nrun 190000\nrun"), encoding="utf-8")
    shutil.copy(RIGID / "data.rigid", folder)
    return [found, "-in", "in.rigid", "-log", "none", "-screen", "none"]


def pylops(folder, given):
    """mpi4py: least squares by pylops-mpi's solver CGLS, 40 x 20000 numbers a rank."""
    python = given.work / "python"
    if not (python / "bin/python").exists():
        print("installing " + ", ".join(PACKAGES), file=sys.stderr)
        venv.create(python, symlinks=True, with_pip=False)
        command = [sys.executable, "-m", "pip", "--python", str(python / "bin/python")]
        done = subprocess.run([*command, "install", "--quiet", *PACKAGES], check=False)
        if done.returncode:
            shutil.rmtree(python)
            raise Missing(f"pip could not install {', '.join(PACKAGES)}")
    return [str(python / "bin/python"), str(HERE / "least_squares.py"), "40", "20000", "50", "12"]


PROGRAMS = {each.__name__: each for each in (hpcg, hpcc, lammps, pylops)}
