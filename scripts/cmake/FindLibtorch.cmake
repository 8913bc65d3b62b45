# Finds libtorch in the torch wheel of .venv (or in LIBTORCH_ROOT). torch's own TorchConfig.cmake requires a complete CUDA
# toolkit even for a CPU program; this module requires only what we use.
#   Libtorch::torch        include folders, libraries, definitions
#   LIBTORCH_CUDA          true when the wheel has its CUDA half and nvcc was found
#   LIBTORCH_CUDA_HEADERS  true when the CUDA runtime's headers were found, in LIBTORCH_CUDA_INCLUDES
if(NOT LIBTORCH_ROOT)
  file(GLOB LIBTORCH_ROOT "${CMAKE_SOURCE_DIR}/.venv/lib/python3.*/site-packages/torch")
endif()
set(LIBTORCH_ROOT "${LIBTORCH_ROOT}" CACHE PATH "Folder with include/ and lib/ of libtorch")

find_library(LIBTORCH_CPU_LIBRARY torch_cpu PATHS "${LIBTORCH_ROOT}/lib" NO_DEFAULT_PATH)
find_library(LIBTORCH_C10_LIBRARY c10 PATHS "${LIBTORCH_ROOT}/lib" NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libtorch REQUIRED_VARS LIBTORCH_CPU_LIBRARY LIBTORCH_C10_LIBRARY
                                  REASON_FAILURE_MESSAGE "run scripts/setup.sh, or give -DLIBTORCH_ROOT=FOLDER")

find_library(LIBTORCH_CUDA_LIBRARY torch_cuda PATHS "${LIBTORCH_ROOT}/lib" NO_DEFAULT_PATH)
# Prefers the compiler and headers of .venv, which have torch's CUDA version, to a toolkit installed on the machine.
file(GLOB LIBTORCH_CUDA_FOLDER "${LIBTORCH_ROOT}/../nvidia/cu[0-9]*")
find_program(NVCC nvcc HINTS "${LIBTORCH_CUDA_FOLDER}/bin" PATHS /usr/local/cuda/bin)
get_filename_component(nvcc_folder "${NVCC}" DIRECTORY)
# The runtime's headers include crt/ and nv/, which come in separate wheels: a folder without them does not compile. CUDA 12's wheels have
# a folder each, which scripts/portable/build.sh installs.
file(GLOB separate_includes "${LIBTORCH_ROOT}/../nvidia/*/include")
find_path(CUDA_RUNTIME_INCLUDE cuda_runtime_api.h PATHS "${LIBTORCH_ROOT}/../nvidia/cuda_runtime/include" NO_DEFAULT_PATH)
if(CUDA_RUNTIME_INCLUDE)
  find_path(CUDA_CRT_INCLUDE crt/host_config.h PATHS ${separate_includes} NO_DEFAULT_PATH)
  find_path(CUDA_CCCL_INCLUDE nv/target PATHS ${separate_includes} NO_DEFAULT_PATH)
  set(LIBTORCH_CUDA_INCLUDES ${separate_includes})
else()
  set(cuda_includes "${LIBTORCH_CUDA_FOLDER}/include" "${nvcc_folder}/../include" /usr/local/cuda/include)
  find_path(CUDA_CRT_INCLUDE crt/host_config.h PATHS ${cuda_includes} NO_DEFAULT_PATH)
  find_path(CUDA_CCCL_INCLUDE nv/target HINTS "${CUDA_CRT_INCLUDE}" PATH_SUFFIXES cccl)
  set(LIBTORCH_CUDA_INCLUDES "${CUDA_CRT_INCLUDE}" "${CUDA_CCCL_INCLUDE}")
endif()
set(LIBTORCH_CUDA_HEADERS OFF)
if(CUDA_CRT_INCLUDE AND CUDA_CCCL_INCLUDE)
  set(LIBTORCH_CUDA_HEADERS ON)
endif()
set(LIBTORCH_CUDA OFF)
if(LIBTORCH_CUDA_LIBRARY AND NVCC)
  set(LIBTORCH_CUDA ON)
endif()


add_library(Libtorch::torch INTERFACE IMPORTED)
target_include_directories(Libtorch::torch SYSTEM INTERFACE "${LIBTORCH_ROOT}/include"
                           "${LIBTORCH_ROOT}/include/torch/csrc/api/include"
                           "${CMAKE_CURRENT_LIST_DIR}/gloo_headers")  # the wheel includes but does not ship them
target_compile_definitions(Libtorch::torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
# --disable-new-dtags: libtorch_cpu's own dependencies (its OpenMP among them) must be found beside it.
target_link_options(Libtorch::torch INTERFACE "-Wl,--disable-new-dtags")
# Links libtorch's own OpenMP, so that a program has one thread pool and not two.
file(GLOB LIBTORCH_OPENMP "${LIBTORCH_ROOT}/lib/libgomp*.so*")
if(NOT LIBTORCH_OPENMP)
  set(LIBTORCH_OPENMP gomp)
endif()
target_link_libraries(Libtorch::torch INTERFACE "${LIBTORCH_CPU_LIBRARY}" "${LIBTORCH_C10_LIBRARY}" ${LIBTORCH_OPENMP})

# For --version: what libtorch was built with. LIBTORCH_MINOR: its version's first two numbers, as 2.11.
set(LIBTORCH_CUDA_VERSION "?")
set(LIBTORCH_NCCL_VERSION "?")
set(LIBTORCH_MINOR "?")
set(torch_py "${LIBTORCH_ROOT}/version.py")
if(EXISTS "${torch_py}")
  file(STRINGS "${torch_py}" line REGEX "^__version__")
  string(REGEX MATCH "[0-9]+[.][0-9]+" LIBTORCH_MINOR "${line}")
  file(STRINGS "${torch_py}" line REGEX "^cuda:")
  string(REGEX MATCH "[0-9]+[.][0-9]+" LIBTORCH_CUDA_VERSION "${line}")
endif()
file(GLOB nccl_header "${LIBTORCH_ROOT}/../nvidia/nccl/include/nccl.h")
if(nccl_header)
  file(STRINGS "${nccl_header}" lines REGEX "#define NCCL_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  string(JOIN "." LIBTORCH_NCCL_VERSION ${numbers})
endif()
