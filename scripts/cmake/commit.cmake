# Writes OUTPUT, which says of which commit a build is ("+" after it: with changes). Run at each build; the file changes only when
# the answer does, so nothing else is compiled again. BERTPRETRAIN_COMMIT answers where there is no git, as in an image.
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
