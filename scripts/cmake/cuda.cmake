# libbertpretrain_cuda.so, which the program loads when tensors are on a GPU (lib/kernels/kernels_in_use.h), and the library of kernels
# that it links. The kernels do not know libtorch, so builds for several versions of it share one library. A custom command calls nvcc for
# each .cu file: CMake's own CUDA language first links a test program, which fails with CMake 3.25 and nvcc 13.
#   BERTPRETRAIN_CUDA_DEVICES  the GPUs that the kernels are compiled for: all, or the sm_ number of one
#   BERTPRETRAIN_CUDA          true when the module is built
#   BERTPRETRAIN_CUDA_KERNELS  a finished libbertpretrain_cuda_kernels.so of the same sources and CUDA, to link instead of compiling it;
#                              none: build no module of kernels, only that of NCCL
set(BERTPRETRAIN_CUDA_KERNELS "" CACHE STRING "libbertpretrain_cuda_kernels.so of another build; empty: compile it; none: without kernels")
set(BERTPRETRAIN_CUDA_DEVICES "all" CACHE STRING "GPUs that the kernels are compiled for: all, or one as 90")
file(GLOB CUDART_LIBRARY "${LIBTORCH_ROOT}/../nvidia/*/lib/libcudart.so.*")  # torch's own: two CUDA runtimes would not share streams
set(BERTPRETRAIN_CUDA OFF)
if(BERTPRETRAIN_GPU AND LIBTORCH_CUDA_LIBRARY AND LIBTORCH_C10_CUDA_LIBRARY AND LIBTORCH_CUDA_HEADERS AND CUDART_LIBRARY
   AND (LIBTORCH_CUDA OR BERTPRETRAIN_CUDA_KERNELS) AND NOT BERTPRETRAIN_CUDA_KERNELS STREQUAL "none")
  set(BERTPRETRAIN_CUDA ON)
  if(BERTPRETRAIN_CUDA_KERNELS)
    add_library(bertpretrain_cuda_kernels SHARED IMPORTED)
    set_target_properties(bertpretrain_cuda_kernels PROPERTIES IMPORTED_LOCATION "${BERTPRETRAIN_CUDA_KERNELS}")
  else()
    file(GLOB kernels CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/lib/kernels/cuda/*.cu")
    set(objects)
    foreach(kernel IN LISTS kernels)
      get_filename_component(name "${kernel}" NAME)
      set(object "${CMAKE_BINARY_DIR}/cuda/${name}.o")
      # Ampere and Ada (8.6 and 8.9 run sm_80's), Hopper, Blackwell of servers and of desktops; the driver compiles the PTX for later GPUs.
      # A kernel that spills registers fails the build.
      set(devices -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_100,code=sm_100
                  -gencode arch=compute_120,code=sm_120 -gencode arch=compute_100,code=compute_100)
      if(NOT BERTPRETRAIN_CUDA_DEVICES STREQUAL "all")
        set(devices -gencode arch=compute_${BERTPRETRAIN_CUDA_DEVICES},code=sm_${BERTPRETRAIN_CUDA_DEVICES})
      endif()
      if(name MATCHES "^warpgroup_")
        set(devices -gencode arch=compute_90a,code=sm_90a)  # instructions that Hopper alone has
      endif()
      set(options -std=c++20 -O3 -lineinfo ${devices} -Xptxas -warn-spills,-Werror -ccbin "${CMAKE_CXX_COMPILER}"
                  -Xcompiler -fPIC,-Wall,-Wextra -Werror all-warnings "-I${CMAKE_SOURCE_DIR}/lib")
      if(name STREQUAL "optimizer.cu")
        list(APPEND options -fmad=false)  # as on the CPU (kernels.cmake)
      endif()
      add_custom_command(OUTPUT "${object}" COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/cuda"
        COMMAND "${NVCC}" ${options} -MD -MF "${object}.d" -c "${kernel}" -o "${object}"
        DEPENDS "${kernel}" DEPFILE "${object}.d" COMMENT "Compiling ${name} with nvcc" VERBATIM)
      list(APPEND objects "${object}")
    endforeach()
    add_library(bertpretrain_cuda_kernels SHARED ${objects})
    set_target_properties(bertpretrain_cuda_kernels PROPERTIES LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
    target_link_libraries(bertpretrain_cuda_kernels PRIVATE "${CUDART_LIBRARY}")
    target_link_options(bertpretrain_cuda_kernels PRIVATE -Wl,--no-undefined)
  endif()
  file(GLOB bindings CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/lib/kernels/cuda/*.cpp" "${CMAKE_SOURCE_DIR}/lib/kernels/cuda/module/*.cpp")
  group_for_unity(cuda ${bindings})
  add_library(bertpretrain_cuda MODULE ${bindings})
  compile_in_groups(bertpretrain_cuda)
  target_include_directories(bertpretrain_cuda PRIVATE "${CMAKE_SOURCE_DIR}/lib")
  target_include_directories(bertpretrain_cuda SYSTEM PRIVATE ${LIBTORCH_CUDA_INCLUDES})
  target_link_libraries(bertpretrain_cuda PRIVATE bertpretrain_cuda_kernels Libtorch::torch "${LIBTORCH_CUDA_LIBRARY}"
                                                  "${LIBTORCH_C10_CUDA_LIBRARY}" "${CUDART_LIBRARY}" bertpretrain_warnings)
  set_target_properties(bertpretrain_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}" BUILD_RPATH "$ORIGIN")
endif()

# uses_cuda_module(PROGRAM): lets the program find the module in its own folder, and exports its symbols to the module.
function(uses_cuda_module program)
  if(BERTPRETRAIN_CUDA)
    add_dependencies(${program} bertpretrain_cuda)
    set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON BUILD_RPATH "$ORIGIN")
  endif()
endfunction()
