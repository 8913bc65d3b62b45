# Writes OUTPUT, a header with the commit of the build; "+" after it means uncommitted changes. Runs at each build. The file is
# rewritten only when the commit changes, so nothing else is compiled again. Without git, as in an image, set BERTPRETRAIN_COMMIT.
set(commit "${BERTPRETRAIN_COMMIT}")
if(NOT commit)
  execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  execute_process(COMMAND git -C "${SOURCE}" diff --quiet HEAD RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
  if(NOT commit)
    set(commit unknown)
  elseif(changed)
    string(APPEND commit "+")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#pragma once\n#define BERTPRETRAIN_COMMIT \"${commit}\"\n")
