# The language, the warnings, the sanitizers, and how a target collects its folders.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

add_library(bertpretrain_warnings INTERFACE)
target_compile_options(bertpretrain_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion
                       -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(bertpretrain_warnings INTERFACE -Wno-restrict)  # false alarms in std::string (GCC bug 105651)
endif()

if(BERTPRETRAIN_SANITIZER STREQUAL "address")
  # The address sanitizer finds what the three omitted checks find, and they cost a fifth of the compile time.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(BERTPRETRAIN_SANITIZER STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(BERTPRETRAIN_SANITIZER STREQUAL "fuzzer")
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

set(BERTPRETRAIN_UNITY_SIZE 12 CACHE STRING "Number of files that BERTPRETRAIN_UNITY compiles as one")
if(BERTPRETRAIN_SANITIZER MATCHES "^(address|thread)$")
  add_compile_options(-Wno-maybe-uninitialized)  # with sanitizers, GCC 12 warns of it in the standard library's <regex>
  # Sanitized code is compiled for one run, and each folder of it as one file, which takes a fraction of the time.
  set(BERTPRETRAIN_UNITY ON)
  set(BERTPRETRAIN_UNITY_SIZE 1000)
endif()

# group_for_unity(NAME FILE...): with BERTPRETRAIN_UNITY, each BERTPRETRAIN_UNITY_SIZE of these files are compiled as one, because most
# of a small file's time goes into its headers. Names in the anonymous namespaces of one folder must therefore differ.
function(group_for_unity name)
  set(size 0)
  set(group 0)
  foreach(file IN LISTS ARGN)
    if(size EQUAL BERTPRETRAIN_UNITY_SIZE)
      math(EXPR group "${group} + 1")
      set(size 0)
    endif()
    set_source_files_properties("${file}" PROPERTIES UNITY_GROUP "${name}_${group}")
    math(EXPR size "${size} + 1")
  endforeach()
endfunction()

# compile_in_groups(TARGET): compiles the groups of group_for_unity with BERTPRETRAIN_UNITY; without it, each file by itself.
function(compile_in_groups target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BERTPRETRAIN_UNITY} UNITY_BUILD_MODE GROUP)
  if(BERTPRETRAIN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # a class of a .cpp file may use the file's own types
  endif()
endfunction()

# unite_tests(TARGET GROUP FILE...): the same for a test program. A sanitizer has all of its files as one.
function(unite_tests target group)
  group_for_unity("test_${group}" ${ARGN})
  compile_in_groups(${target})
endfunction()

# add_sources(TARGET FOLDER... [FEW_OPTIMIZATIONS FOLDER...]): a static library of all .cpp files of these folders of lib/. The files after
# FEW_OPTIMIZATIONS, which read settings, watch and report, are the target TARGET_o1: -O1 saves a third of their compile time. Include
# folders, definitions and libraries are set for each of the two targets.
function(add_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" FEW_OPTIMIZATIONS)
  add_library(${target}_o1 OBJECT)
  add_library(${target} STATIC $<TARGET_OBJECTS:${target}_o1>)
  target_compile_options(${target}_o1 PRIVATE $<$<CONFIG:Release>:-O1>)
  add_folders(${target} ${ARG_UNPARSED_ARGUMENTS})
  add_folders(${target}_o1 ${ARG_FEW_OPTIMIZATIONS})
endfunction()

function(add_folders target)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/lib/${folder}/*.cpp")
    string(REPLACE "/" "_" group "${folder}")
    group_for_unity("${group}" ${found})
    target_sources(${target} PRIVATE ${found})
  endforeach()
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/lib")
  target_link_libraries(${target} PRIVATE bertpretrain_warnings)
  compile_in_groups(${target})
endfunction()

# add_program(NAME FOLDER LIBRARY): an executable of all .cpp files of a folder. They read options and print; what takes time in a
# run is in the library, so few optimizations save half of their compile time (-Og takes less than -O0, and three quarters of -O1).
function(add_program name folder library)
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  group_for_unity(${name} ${files})
  add_executable(${name} ${files})
  compile_in_groups(${name})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  target_link_libraries(${name} PRIVATE ${library} bertpretrain_command_line bertpretrain_warnings)
endfunction()
