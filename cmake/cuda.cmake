# CUDA beside LibTorch: nvcc, and the libraries that the torch wheel itself loads, so that a process has one CUDA runtime and one NCCL.
# A GPU is needed to run, not to build. A wheel without CUDA is refused by name.
include_guard()
get_filename_component(wheels ${MESHWRIGHT_TORCH} DIRECTORY)
set(wheels ${wheels}/nvidia)
if(NOT EXISTS ${MESHWRIGHT_TORCH}/lib/libtorch_cuda.so)
  message(FATAL_ERROR "${MESHWRIGHT_TORCH} is a LibTorch for CPUs only: install torch 2.11.0 for CUDA 13, or leave MESHWRIGHT_CUDA off")
endif()

# nvcc: CMAKE_CUDA_COMPILER, CUDACXX, the wheel nvidia-cuda-nvcc (cmake/setup.sh cuda), the PATH, /usr/local/cuda.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(MESHWRIGHT_NVCC nvcc HINTS ${wheels}/cu13/bin PATHS /usr/local/cuda/bin)
  if(NOT MESHWRIGHT_NVCC)
    message(FATAL_ERROR "nvcc is missing: run cmake/setup.sh cuda, or pass -DCMAKE_CUDA_COMPILER=<path of nvcc 13>")
  endif()
  set(CMAKE_CUDA_COMPILER ${MESHWRIGHT_NVCC})
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90 100)
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY None)   # LibTorch's own, below
enable_language(CUDA)
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)   # CMake 3.25 knows it for no nvcc of CUDA 13
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13 OR CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 14)
  message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} is CUDA ${CMAKE_CUDA_COMPILER_VERSION}, LibTorch's libraries are CUDA 13: put nvcc 13 on the PATH")
endif()
if(CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# No contraction, as everywhere: a kernel has the bits of its CPU twin.
add_library(meshwright_cuda_options INTERFACE)
target_compile_options(meshwright_cuda_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra>
                       $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${MESHWRIGHT_WERROR}>>:-Werror=all-warnings -Xcompiler=-Werror>)

# A library of CUDA 13: the file that LibTorch loads, else the machine's.
function(find_cuda_library result name)
  cmake_parse_arguments(FIND "" "" "NAMES;WHEEL" ${ARGN})
  find_library(${result} NAMES ${FIND_NAMES} PATHS ${wheels}/${FIND_WHEEL}/lib NO_DEFAULT_PATH)
  find_library(${result} NAMES ${FIND_NAMES} HINTS /usr/local/cuda/lib64)
  if(NOT ${result})
    message(FATAL_ERROR "${name} is missing: neither beside LibTorch (${wheels}/${FIND_WHEEL}/lib) nor on this machine")
  endif()
endfunction()
find_cuda_library(MESHWRIGHT_CUDART "The CUDA 13 runtime" NAMES libcudart.so.13 cudart WHEEL cu13)
find_cuda_library(MESHWRIGHT_NCCL "NCCL" NAMES libnccl.so.2 nccl WHEEL nccl)
find_path(MESHWRIGHT_NCCL_INCLUDE nccl.h HINTS ${wheels}/nccl/include REQUIRED)

# Every executor room is linked with these. LibTorch finds its CUDA part by its being loaded: the linker must not drop it.
# The wheel's headers come last: LibTorch's own ask for those of cuBLAS, cuSPARSE and cuSOLVER, which do not come with nvcc alone.
target_include_directories(libtorch SYSTEM INTERFACE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} ${MESHWRIGHT_NCCL_INCLUDE} ${wheels}/cu13/include)
target_compile_definitions(libtorch INTERFACE MESHWRIGHT_CUDA=1)
target_link_libraries(libtorch INTERFACE ${MESHWRIGHT_TORCH}/lib/libc10_cuda.so ${MESHWRIGHT_CUDART} ${MESHWRIGHT_NCCL}
                      -Wl,--push-state,--no-as-needed,${MESHWRIGHT_TORCH}/lib/libtorch_cuda.so,--pop-state)
foreach(library ${MESHWRIGHT_CUDART} ${MESHWRIGHT_NCCL})
  get_filename_component(folder ${library} DIRECTORY)
  target_link_options(libtorch INTERFACE -Wl,-rpath,${folder})
endforeach()

# A test that needs a GPU: label gpu, skipped aloud without one (it says "no GPU: ..."), built by the target gpu_checks for tests/run_gpu.sh.
add_custom_target(gpu_checks)
function(add_gpu_test name)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS gpu SKIP_REGULAR_EXPRESSION "no GPU:" RUN_SERIAL ON)
  add_dependencies(gpu_checks ${name})
endfunction()
