# libbertpretrain_nccl.so, which the program loads when several ranks have GPUs (lib/parallel/nccl_module.h). It needs no nvcc, only
# the headers of NCCL and the CUDA runtime, which .venv holds (scripts/requirements.txt).
file(GLOB NVIDIA_FOLDER "${LIBTORCH_ROOT}/../nvidia")
find_path(NCCL_INCLUDE nccl.h PATHS "${NVIDIA_FOLDER}/nccl/include" NO_DEFAULT_PATH)  # torch's own: those of another version may not match
find_path(NCCL_INCLUDE nccl.h)
find_library(LIBTORCH_C10_CUDA_LIBRARY c10_cuda PATHS "${LIBTORCH_ROOT}/lib" NO_DEFAULT_PATH)
set(BERTPRETRAIN_NCCL OFF)
if(BERTPRETRAIN_GPU AND LIBTORCH_CUDA_LIBRARY AND LIBTORCH_C10_CUDA_LIBRARY AND NCCL_INCLUDE AND LIBTORCH_CUDA_HEADERS
   AND EXISTS "${LIBTORCH_ROOT}/include/torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp")
  set(BERTPRETRAIN_NCCL ON)
  add_library(bertpretrain_nccl MODULE "${CMAKE_SOURCE_DIR}/lib/parallel/nccl/nccl_world.cpp")
  target_include_directories(bertpretrain_nccl PRIVATE "${CMAKE_SOURCE_DIR}/lib")
  target_include_directories(bertpretrain_nccl SYSTEM PRIVATE "${NCCL_INCLUDE}" ${LIBTORCH_CUDA_INCLUDES})
  target_compile_definitions(bertpretrain_nccl PRIVATE USE_C10D_NCCL)
  target_link_libraries(bertpretrain_nccl PRIVATE Libtorch::torch "${LIBTORCH_CUDA_LIBRARY}" "${LIBTORCH_C10_CUDA_LIBRARY}"
                                                  nlohmann_json::nlohmann_json bertpretrain_warnings)
  set_target_properties(bertpretrain_nccl PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endif()

# uses_nccl_module(PROGRAM): lets the program find the module in its own folder, and exports its symbols to the module.
function(uses_nccl_module program)
  if(BERTPRETRAIN_NCCL)
    add_dependencies(${program} bertpretrain_nccl)
    set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON BUILD_RPATH "$ORIGIN")
  endif()
endfunction()
