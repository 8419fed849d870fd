# SPDX-License-Identifier: BSD-3-Clause
# The identity of a back end's build: a hash of the sources of src/, the same in any directory,
# computed again when one of them changes. This file is also the script that makes it.
set(SUMAC_BUILD_HASH_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

# sumac_build_hash(HEADER): a rule that writes the header, which defines SUMAC_BUILD_HASH.
function(sumac_build_hash header)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/src/*.c ${PROJECT_SOURCE_DIR}/src/*.cc ${PROJECT_SOURCE_DIR}/src/*.h
       ${PROJECT_SOURCE_DIR}/src/*.S ${PROJECT_SOURCE_DIR}/src/*.def
       ${PROJECT_SOURCE_DIR}/src/*.toml)
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(SORT sources)
  list(JOIN sources "\n" names)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/hashed_sources.txt)
  file(CONFIGURE OUTPUT ${list} CONTENT "${names}\n")
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${list} -DHEADER=${header} -P
            ${SUMAC_BUILD_HASH_SCRIPT}
    DEPENDS ${sources} ${list} ${SUMAC_BUILD_HASH_SCRIPT}
    COMMENT "Hashing the sources")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS ${LIST} names)
  set(all "")
  foreach(name IN LISTS names)
    file(SHA256 ${ROOT}/${name} hash)
    string(APPEND all "${name} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 16 hash)
  file(WRITE ${HEADER} "#define SUMAC_BUILD_HASH 0x${hash}ull\n")
endif()
