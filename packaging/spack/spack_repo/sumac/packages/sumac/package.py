# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Sumac(CMakePackage):
    """Faster reductions and broadcasts for unmodified MPI programs: a library that is loaded in
    front of the program's MPI and serves the calls for which it is faster."""

    homepage = "@HOMEPAGE@"
    url = "@URL@/sumac-@VERSION@.tar.gz"
    git = "@SOURCE@"

    license("BSD-3-Clause", checked_by="the authors")

    version("main", branch="main")
    version("@VERSION@", sha256="@SHA256@")

    variant("plot", default=True, description="Draw pictures of results (sumac plot)")
    variant("simulate", default=False, description="Simulate clusters (sumac simulate)")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("tomlplusplus@3.3:", type="build")
    depends_on("highway@1.0.3:", type="build")
    depends_on("hwloc@2:")
    depends_on("mpi")
    depends_on("simgrid@3.32: +smpi", when="+simulate")
    depends_on("python@3.11:", type="run")
    depends_on("py-typer@0.20:", type="run")
    depends_on("py-rich@13:", type="run")
    depends_on("py-pyelftools@0.29:", type="run")
    depends_on("py-matplotlib@3.7:", type="run", when="+plot")
    depends_on("py-clustershell@1.9:", type="run")

    conflicts("%gcc@:11", msg="C++20 coroutines are tested from GCC 12 on")

    generator("ninja")

    def cmake_args(self):
        # The back end is for the family of this MPI. It serves all MPIs of the family, whichever
        # is in the process.
        mpi = self.spec["mpi"]
        family = "openmpi" if mpi.name == "openmpi" else "mpich"
        found = find_libraries(["libmpi"], root=mpi.prefix, recursive=True)
        return [
            self.define("SUMAC_WERROR", False),
            self.define(f"SUMAC_{family}_CC", mpi.mpicc),
            self.define(f"SUMAC_{family}_CXX", mpi.mpicxx),
            self.define(f"SUMAC_{family.upper()}_LIBRARY", found.libraries[0]),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.sumac)("--version")
        Executable(self.prefix.bin.sumac)("check", "-n", "2")
