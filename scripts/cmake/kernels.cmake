# How the loops of lib/kernels/cpu are compiled. sqrt need not set errno, or it stays a call per element; products and
# sums are not contracted, so that a result does not depend on whether the processor has fused multiply-add.
# Their own options make the precompiled header unusable; they include little.
set_source_files_properties("${CMAKE_SOURCE_DIR}/lib/kernels/cpu/optimizer_kernels.cpp" PROPERTIES
  COMPILE_OPTIONS "-fno-math-errno;-fno-trapping-math;-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)
