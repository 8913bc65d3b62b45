# sqrt need not set errno and comparisons need not trap, or both stay calls per element. For the whole target, because its
# precompiled header must be compiled with the same.
target_compile_options(bertpretrain_train PRIVATE -fno-math-errno -fno-trapping-math)
# The optimizer's results are compared between slicings and machines: no fused multiply-add where the code has none.
set_source_files_properties("${CMAKE_SOURCE_DIR}/lib/kernels/cpu/optimizer_kernels.cpp" PROPERTIES
  COMPILE_OPTIONS "-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)
