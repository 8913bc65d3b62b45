# How test programs are compiled, and which entries ctest has: one per folder of unit tests, and one per case of all other tests.
# The latter run side by side, have a time limit each, and can be chosen by name.
#   label    which cases                                                         duration on a quiet machine
#   unit     of a folder with that label, without a tag                          below a second
#   system   with the tag [system], or of a folder with that label               below a minute
#            also whole folders with the kernels of another instruction set
#   gpu      of tests/gpu
#   long     with the tag [.long]: scripts/check.sh --long runs them

# Files that several tests read (tests/support/made_once.h). ctest empties the folder before the first test that needs it, and removes
# it after the last one, with which the server of tests/support/warm_python.py ends.
set(scratch "${CMAKE_BINARY_DIR}/test_scratch")
add_test(NAME scratch COMMAND "${CMAKE_COMMAND}" -E rm -rf "${scratch}")
set_tests_properties(scratch PROPERTIES FIXTURES_SETUP scratch)
add_test(NAME scratch_removed COMMAND "${CMAKE_COMMAND}" -E rm -rf "${scratch}")
set_tests_properties(scratch_removed PROPERTIES FIXTURES_CLEANUP scratch)

# Where more threads want to run than there are cores, threads of OpenMP that spin while they wait take the time of those that work.
set(test_environment "BERTPRETRAIN_TEST_SCRATCH=${scratch};OMP_WAIT_POLICY=passive")

# The programs that unit tests need: `cmake --build DIR --target unit_tests`.
add_custom_target(unit_tests)

# compile_as_test(TARGET): with few optimizations, which takes half of the time; what a test measures is in the library.
function(compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# add_entry(NAME LABEL COMMAND...): an entry of ctest.
function(add_entry name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300 FIXTURES_REQUIRED scratch
                       ENVIRONMENT "${test_environment};BERTPRETRAIN_NAME_CASES=1")
endfunction()

# add_case_entries(FOLDER LABEL): an entry "FOLDER: NAME" for each case of test_FOLDER that does not run with its whole folder
# (tests/support/ctest_cases.h). The program lists them each time that it is linked.
function(add_case_entries folder label)
  set(list "${CMAKE_CURRENT_BINARY_DIR}/cases/${folder}.cmake")
  string(CONCAT properties "FIXTURES_REQUIRED scratch WORKING_DIRECTORY [==[${CMAKE_SOURCE_DIR}]==] "
                           "ENVIRONMENT [==[${test_environment}]==]")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/cases")
  add_custom_command(TARGET test_${folder} POST_BUILD VERBATIM
    COMMAND "$<TARGET_FILE:test_${folder}>" --ctest-cases ${folder} ${label} "${properties}" > "${list}")
  file(WRITE "${list}.include" "if(EXISTS [==[${list}]==])\n  include([==[${list}]==])\nelse()\n"
                               "  add_test([==[${folder}: not built]==] [==[${CMAKE_COMMAND}]==] -E false)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${list}.include")
endfunction()

# add_tests_of(LABEL FOLDER...): the entries of these folders' programs. LABEL is that of cases without a tag: unit, system or gpu.
function(add_tests_of label)
  foreach(folder IN LISTS ARGN)
    add_case_entries(${folder} ${label})
    if(label STREQUAL "unit")
      add_entry(${folder} unit test_${folder} "~[.]~[system]")  # Catch2 2 runs hidden cases otherwise
      add_dependencies(unit_tests test_${folder})
    endif()
  endforeach()
endfunction()

# add_instruction_set_tests(SET FOLDER [TESTS]): FOLDER's tests once more, with the kernels of SET (kernels/cpu/instruction_set.h).
function(add_instruction_set_tests set folder)
  if(NOT ARGN)
    set(ARGN "~[.]")
  endif()
  add_entry(${folder}_${set} system test_${folder} ${ARGN})
  get_test_property(${folder}_${set} ENVIRONMENT environment)
  set_tests_properties(${folder}_${set} PROPERTIES ENVIRONMENT "${environment};BERTPRETRAIN_CPU_CAPABILITY=${set}"
                       SKIP_REGULAR_EXPRESSION "this processor has no more than")
endfunction()
