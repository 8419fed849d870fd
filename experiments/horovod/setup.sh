#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# setup.sh [FOLDER]: builds Horovod 0.28.1 for TensorFlow 2.12 and Debian's Open MPI in a Python
# environment of its own (build/horovod). Needs Python 3.8 to 3.11 with venv and headers, a
# compiler, libopenmpi-dev, and a package index; takes 10 to 30 minutes and 3 GB. What is there
# already is kept.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:-$here/../../build/horovod}
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 12))' || {
  echo "setup: TensorFlow 2.12 needs Python 3.8 to 3.11; $python is $("$python" -V)" >&2
  echo "  fix: PYTHON=/usr/bin/python3.11 $0" >&2
  exit 3
}
command -v mpicxx.openmpi >/dev/null || {
  echo "setup: no mpicxx.openmpi" >&2
  echo "  fix: apt-get install libopenmpi-dev" >&2
  exit 3
}

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
PATH=$venv/bin:$PATH
export PATH
# Without the versions of jax pip would try one release after another. CMake 4 no longer reads
# Horovod's oldest files.
pip install --quiet 'setuptools<70' wheel 'cmake<4' 'numpy<2' 'tensorflow-cpu==2.12.*' \
  jax==0.4.13 jaxlib==0.4.13 cffi cloudpickle psutil pyyaml packaging
python -c 'import horovod.tensorflow' 2>/dev/null ||
  HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 \
    HOROVOD_WITHOUT_MXNET=1 HOROVOD_MPICXX_SHOW="mpicxx.openmpi -show" \
    pip install --no-build-isolation --no-deps horovod==0.28.1
mpicc.openmpi -O2 -fPIC -shared -o "$venv/front.so" "$here/front.c" -ldl
python -c 'import horovod.tensorflow as hvd; assert hvd.mpi_built()'
echo "setup: Horovod is in $venv"
