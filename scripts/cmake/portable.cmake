# `cmake --install build/release --component portable --prefix DIR`: the programs, GPU tests and modules of the archive that
# scripts/package_portable.sh builds. They find their libraries in lib/bertpretrain, and PyTorch's through the launcher in bin/.
# --disable-new-dtags: makes the search path apply to the libraries' own dependencies too.
target_link_options(bertpretrain_data PRIVATE "-Wl,--disable-new-dtags")
foreach(program bertpretrain bertpretrain_data test_gpu time_parts)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/bertpretrain")
    install(TARGETS ${program} RUNTIME DESTINATION libexec COMPONENT portable EXCLUDE_FROM_ALL)
  endif()
endforeach()
foreach(module bertpretrain_cuda bertpretrain_nccl bertpretrain_parquet)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION lib/bertpretrain COMPONENT portable EXCLUDE_FROM_ALL)
  endif()
endforeach()
