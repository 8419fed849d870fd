# SPDX-License-Identifier: BSD-3-Clause
# Toolchain of the preset aarch64: Debian's cross compiler, and an emulator to run the tests. The
# emulated processor has no SVE; the tests that want SVE name another one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64;-L;/usr/aarch64-linux-gnu;-cpu;cortex-a57)
