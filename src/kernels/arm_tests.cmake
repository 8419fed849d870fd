# SPDX-License-Identifier: BSD-3-Clause
# The tests of the kernels on Arm. The emulator runs them once on a processor without SVE, for the
# other sets, and once for every length of SVE's vectors, for SVE alone. Types without vector
# kernels are tested in the former run.
target_sources(kernels_reduce_test PRIVATE simd_arm_test.cc)
if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
  return()
endif()

set_tests_properties(unit.kernels_reduce_test PROPERTIES ENVIRONMENT SUMAC_TEST_SVE_BITS=0
                                                         TIMEOUT 1800)
list(GET CMAKE_CROSSCOMPILING_EMULATOR 0 emulator)
foreach(bits 128 256 384 512 1024 2048)
  math(EXPR bytes "${bits} / 8")
  add_test(NAME unit.kernels_reduce_test_sve${bits}
           COMMAND ${emulator} -L /usr/aarch64-linux-gnu -cpu max,sve-default-vector-length=${bytes}
                   $<TARGET_FILE:kernels_reduce_test>
                   --gtest_filter=*/sve_*:Simd.*:-*128*:*long_double*)
  set_tests_properties(
    unit.kernels_reduce_test_sve${bits}
    PROPERTIES ENVIRONMENT SUMAC_TEST_SVE_BITS=${bits} LABELS unit TIMEOUT 1800)
endforeach()
