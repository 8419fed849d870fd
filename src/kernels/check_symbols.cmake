# SPDX-License-Identifier: BSD-3-Clause
# cmake -DNM=nm -DARCHIVE=libx.a -P check_symbols.cmake
# Fails if the archive needs a symbol of Highway's library or of the C++ run-time.
execute_process(COMMAND ${NM} --undefined-only --format=posix ${ARCHIVE} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n ]+ U" symbols "${symbols}")
if(NOT symbols MATCHES "memcpy U")
  message(FATAL_ERROR "No list of symbols: ${symbols}")
endif()
list(FILTER symbols INCLUDE REGEX "^(_Z|__cxa_|__gxx_)")
list(FILTER symbols EXCLUDE REGEX "^_ZNK?5sumac")
if(symbols)
  message(FATAL_ERROR "${ARCHIVE} needs ${symbols}")
endif()
