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
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(BERTPRETRAIN_SANITIZER STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(BERTPRETRAIN_SANITIZER STREQUAL "fuzzer")
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# unite_sources(TARGET GROUP FILE...): compiles the files as one translation unit where a sanitizer checks them, which takes a fifth of
# the time. Files whose local names another file of the folder has too are listed here and compiled alone.
set(BERTPRETRAIN_COMPILED_ALONE
    lib/archive/unpickler_values.cpp lib/core/sha256.cpp lib/shards/shard_folder.cpp lib/telemetry/metrics_endpoint.cpp
    lib/text/bzip2_splitter.cpp lib/text/page_chunks.cpp lib/text/wikiextractor_parser.cpp lib/tokens/vocabulary_training.cpp
    lib/tokens/words.cpp tests/shards/damaged_shards_test.cpp tests/shards/manifest_test.cpp
    tests/shards/reference_scripts_test.cpp tests/shards/shard_folder_test.cpp tests/telemetry/loss_history_test.cpp
    tests/telemetry/progress_test.cpp tests/text/extract_test.cpp)
function(unite_sources target group)
  if(NOT BERTPRETRAIN_SANITIZER MATCHES "^(address|thread)$")
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH name "${CMAKE_SOURCE_DIR}" "${file}")
    if(NOT name IN_LIST BERTPRETRAIN_COMPILED_ALONE)
      set_source_files_properties("${file}" PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# add_sources(TARGET FOLDER...): a static library of all .cpp files of these folders of lib/.
function(add_sources target)
  set(files)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/lib/${folder}/*.cpp")
    list(APPEND files ${found})
  endforeach()
  add_library(${target} STATIC ${files})
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/lib")
  target_link_libraries(${target} PRIVATE bertpretrain_warnings)
  foreach(folder IN LISTS ARGN)
    set(of_folder ${files})
    list(FILTER of_folder INCLUDE REGEX "/lib/${folder}/[^/]*$")
    unite_sources(${target} ${folder} ${of_folder})
  endforeach()
endfunction()

# add_program(NAME FOLDER LIBRARY): an executable of all .cpp files of a folder.
function(add_program name folder library)
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  add_executable(${name} ${files})
  target_link_libraries(${name} PRIVATE ${library} bertpretrain_command_line bertpretrain_warnings)
endfunction()
