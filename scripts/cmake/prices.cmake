# Writes lib/operations/prices.json into a header, so that an installed program needs no file beside it.
set(prices "${CMAKE_SOURCE_DIR}/lib/operations/prices.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${prices}")  # a changed price configures again
file(READ "${prices}" prices_json)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/operations/prices_json.h" @ONLY CONTENT
"#pragma once
inline constexpr const char* prices_json = R\"json(@prices_json@)json\";
")
target_include_directories(bertpretrain_train PRIVATE "${CMAKE_BINARY_DIR}/generated")
