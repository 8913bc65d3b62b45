# Prints the configuration in four lines.
message(STATUS "bertpretrain: ${CMAKE_BUILD_TYPE}, sanitizer: '${BERTPRETRAIN_SANITIZER}'")
message(STATUS "  HDF5 ${HDF5_VERSION}, nlohmann_json ${nlohmann_json_VERSION}, spdlog ${spdlog_VERSION}, Parquet: ${BERTPRETRAIN_PARQUET}")
if(BERTPRETRAIN_TORCH)
  message(STATUS "  libtorch: ${LIBTORCH_ROOT}")
  message(STATUS "  CUDA kernels: ${BERTPRETRAIN_CUDA} (${BERTPRETRAIN_CUDA_DEVICES}), NCCL: ${BERTPRETRAIN_NCCL}")
endif()
