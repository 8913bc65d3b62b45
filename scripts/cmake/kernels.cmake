# sqrt need not set errno and comparisons need not trap, or both stay calls per element. For the whole target, because its
# precompiled header must be compiled with the same.
target_compile_options(bertpretrain_train PRIVATE -fno-math-errno -fno-trapping-math)
# Each file of CPU kernels chooses its own instruction sets.
file(GLOB files "${CMAKE_SOURCE_DIR}/lib/kernels/cpu/*.cpp")
set_source_files_properties(${files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# The optimizer's results are compared between slicings and machines: no fused multiply-add where the code has none.
set_source_files_properties("${CMAKE_SOURCE_DIR}/lib/kernels/cpu/optimizer_kernels.cpp" PROPERTIES
  COMPILE_OPTIONS "-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)
