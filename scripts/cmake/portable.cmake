# What scripts/portable/stage.sh installs for the wheel and the portable archive, in two components:
#   portable        what does not link libtorch: bertpretrain_data, the modules for Parquet, the CUDA kernels
#   portable_torch  what does, in libexec/torch-MINOR, once per build: the program, its modules, the GPU tests and benchmarks if built
# The programs find their libraries in lib/bertpretrain, and PyTorch's through the launcher in bin/.
# --disable-new-dtags: makes the search path apply to the libraries' own dependencies too.
target_link_options(bertpretrain_data PRIVATE "-Wl,--disable-new-dtags")
set_target_properties(bertpretrain_data PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/bertpretrain")
install(TARGETS bertpretrain_data RUNTIME DESTINATION libexec COMPONENT portable EXCLUDE_FROM_ALL)
if(TARGET bertpretrain_parquet)
  set_target_properties(bertpretrain_parquet PROPERTIES INSTALL_RPATH "$ORIGIN/../../../pyarrow")  # beside the wheel's own folder
  install(TARGETS bertpretrain_parquet LIBRARY DESTINATION lib/bertpretrain COMPONENT portable EXCLUDE_FROM_ALL)
endif()
if(BERTPRETRAIN_CUDA AND NOT BERTPRETRAIN_CUDA_KERNELS)
  set_target_properties(bertpretrain_cuda_kernels PROPERTIES INSTALL_RPATH "")
  install(TARGETS bertpretrain_cuda_kernels LIBRARY DESTINATION lib/bertpretrain COMPONENT portable EXCLUDE_FROM_ALL)
endif()

if(BERTPRETRAIN_TORCH)
  set(folder "libexec/torch-${LIBTORCH_MINOR}")
  foreach(program bertpretrain test_gpu time_parts)
    if(TARGET ${program})
      set_property(TARGET ${program} APPEND PROPERTY INSTALL_RPATH "$ORIGIN" "$ORIGIN/../../lib/bertpretrain")
      install(TARGETS ${program} RUNTIME DESTINATION "${folder}" COMPONENT portable_torch EXCLUDE_FROM_ALL OPTIONAL)
    endif()
  endforeach()
  foreach(module bertpretrain_cuda bertpretrain_nccl)
    if(TARGET ${module})
      set_target_properties(${module} PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib/bertpretrain")
      install(TARGETS ${module} LIBRARY DESTINATION "${folder}" COMPONENT portable_torch EXCLUDE_FROM_ALL)
    endif()
  endforeach()
  install(FILES "${CMAKE_BINARY_DIR}/cuda_version" DESTINATION "${folder}" COMPONENT portable_torch EXCLUDE_FROM_ALL)
  file(WRITE "${CMAKE_BINARY_DIR}/cuda_version" "${LIBTORCH_CUDA_VERSION}\n")
endif()
