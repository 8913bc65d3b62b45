# Without these options the compiler does not vectorize loops with sqrt (which sets errno) or comparisons (which may trap). They apply to
# the whole target, because its precompiled header must be compiled with the same options.
foreach(part bertpretrain_train bertpretrain_train_o1)
  target_compile_options(${part} PRIVATE -fno-math-errno -fno-trapping-math)
endforeach()
# Each file of CPU kernels chooses its own instruction sets, so it is compiled alone.
file(GLOB_RECURSE files "${CMAKE_SOURCE_DIR}/lib/kernels/cpu/*.cpp")
set_source_files_properties(${files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# The optimizer's results must not depend on slicing or machine, so the compiler may not contract to fused multiply-adds.
set_source_files_properties("${CMAKE_SOURCE_DIR}/lib/kernels/cpu/optimizer_kernels.cpp" PROPERTIES
  COMPILE_OPTIONS "-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)
