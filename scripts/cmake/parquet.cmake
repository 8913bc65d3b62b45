# libbertpretrain_parquet.so, which the programs open where an input is Parquet (lib/text/formats/parquet_file.h) or an
# output is (lib/text/formats/parquet_writer.h). It needs Arrow, which comes
# in the pyarrow wheel of .venv (or in ARROW_ROOT, a folder with include/ and the libraries). Without Arrow, Parquet is refused.
if(NOT ARROW_ROOT)
  file(GLOB ARROW_ROOT "${CMAKE_SOURCE_DIR}/.venv/lib/python3.*/site-packages/pyarrow")
endif()
set(ARROW_ROOT "${ARROW_ROOT}" CACHE PATH "Folder with include/ and the libraries of Arrow and Parquet")
# The wheel's libraries have names with a version only, which find_library does not know.
file(GLOB arrow_libraries "${ARROW_ROOT}/libparquet.so*" "${ARROW_ROOT}/libarrow.so*"
     "${ARROW_ROOT}/lib/libparquet.so" "${ARROW_ROOT}/lib/libarrow.so")
set(BERTPRETRAIN_PARQUET OFF)
# Arrow is not instrumented, and the address sanitizer's dlopen does not look into the program's own folder.
if(arrow_libraries AND NOT BERTPRETRAIN_SANITIZER AND EXISTS "${ARROW_ROOT}/include/parquet/file_reader.h")
  set(BERTPRETRAIN_PARQUET ON)
  add_library(bertpretrain_parquet MODULE "${CMAKE_SOURCE_DIR}/lib/text/parquet/arrow_parquet_file.cpp"
              "${CMAKE_SOURCE_DIR}/lib/text/parquet/arrow_parquet_vectors.cpp")
  target_include_directories(bertpretrain_parquet PRIVATE "${CMAKE_SOURCE_DIR}/lib")
  target_include_directories(bertpretrain_parquet SYSTEM PRIVATE "${ARROW_ROOT}/include")
  target_link_libraries(bertpretrain_parquet PRIVATE ${arrow_libraries} bertpretrain_warnings)
  set_target_properties(bertpretrain_parquet PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endif()

# uses_parquet_module(PROGRAM): lets the program find the module in its own folder.
function(uses_parquet_module program)
  if(BERTPRETRAIN_PARQUET)
    add_dependencies(${program} bertpretrain_parquet)
    set_target_properties(${program} PROPERTIES BUILD_RPATH "$ORIGIN")
  endif()
endfunction()
