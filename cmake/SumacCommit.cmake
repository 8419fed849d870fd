# SPDX-License-Identifier: BSD-3-Clause
# The commit that a build was made from, for `sumac --version`. This file is also the script that
# asks Git, before every build. `git archive` writes the commit into archived_commit.txt.

# sumac_commit_header(TARGET HEADER): the target writes the header, which defines SUMAC_COMMIT, when
# the commit has changed.
function(sumac_commit_header target header)
  add_custom_target(
    ${target}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DHEADER=${header} -P
            ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    BYPRODUCTS ${header})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${ROOT}/cmake/archived_commit.txt commit)
  string(STRIP "${commit}" commit)
  if(NOT commit MATCHES "^[0-9a-f]+[+]?$")
    set(commit unknown)
    # Only the project's own repository counts, not one that its folder happens to lie in.
    if(EXISTS ${ROOT}/.git)
      execute_process(COMMAND git -C ${ROOT} describe --always --abbrev=12 --exclude=* --dirty=+
                      OUTPUT_VARIABLE described RESULT_VARIABLE status ERROR_QUIET
                      OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(status EQUAL 0)
        set(commit ${described})
      endif()
    endif()
  endif()
  file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define SUMAC_COMMIT \"${commit}\"\n")
endif()
