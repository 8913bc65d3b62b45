# Writes lib/operations/accelerators.json into a header, so that an installed program needs no file beside it.
set(accelerators "${CMAKE_SOURCE_DIR}/lib/operations/accelerators.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${accelerators}")  # a changed file configures again
file(READ "${accelerators}" accelerators_json)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/operations/accelerators_json.h" @ONLY CONTENT
"#pragma once
inline constexpr const char* accelerators_json = R\"json(@accelerators_json@)json\";
")
target_include_directories(bertpretrain_train_o1 PRIVATE "${CMAKE_BINARY_DIR}/generated")
