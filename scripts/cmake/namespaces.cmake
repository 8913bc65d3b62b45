# Writes lib/text/wiki/namespaces.tsv into a header, so that an installed program needs no file beside it.
set(namespaces "${CMAKE_SOURCE_DIR}/lib/text/wiki/namespaces.tsv")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${namespaces}")
file(READ "${namespaces}" namespaces_tsv)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/text/namespaces_tsv.h" @ONLY CONTENT
"#pragma once
inline constexpr const char* namespaces_tsv = R\"tsv(@namespaces_tsv@)tsv\";
")
target_include_directories(bertpretrain_core PRIVATE "${CMAKE_BINARY_DIR}/generated")
