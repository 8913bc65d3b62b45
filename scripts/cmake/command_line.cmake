# The library of both programs' command lines, and the header with the commit, which each build looks up.
set(commit_header "${CMAKE_BINARY_DIR}/generated/command_line/commit.h")
add_custom_target(commit
  COMMAND ${CMAKE_COMMAND} "-DSOURCE=${CMAKE_SOURCE_DIR}" "-DOUTPUT=${commit_header}"
          "-DBERTPRETRAIN_COMMIT=${BERTPRETRAIN_COMMIT}" -P "${CMAKE_CURRENT_LIST_DIR}/commit.cmake"
  BYPRODUCTS "${commit_header}" COMMENT "" VERBATIM)
file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/apps/command_line/*.cpp")
add_library(bertpretrain_command_line STATIC ${files})
add_dependencies(bertpretrain_command_line commit)
target_include_directories(bertpretrain_command_line PUBLIC "${CMAKE_SOURCE_DIR}/apps" PRIVATE "${CMAKE_BINARY_DIR}/generated")
target_compile_options(bertpretrain_command_line PRIVATE $<$<CONFIG:Release>:-Og>)  # as the programs (compiler.cmake)
target_compile_definitions(bertpretrain_command_line PRIVATE BERTPRETRAIN_VERSION="${PROJECT_VERSION}")
target_link_libraries(bertpretrain_command_line PUBLIC CLI11::CLI11 PRIVATE bertpretrain_core bertpretrain_warnings)
