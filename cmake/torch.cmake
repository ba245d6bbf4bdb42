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
# The wheel brings headers of a newer fmt than the system's library, and they are found first: take them without a library.
target_compile_definitions(torch_cpu_only INTERFACE FMT_HEADER_ONLY=1)
target_link_options(torch_cpu_only INTERFACE -Wl,-rpath,${MESHWRIGHT_TORCH}/lib)

# One precompiled header for every executor room and its tests; compiled once, by this library (it holds nothing else).
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/torch_headers.cpp CONTENT "// Carries the precompiled header executor/torch_headers.h.\n")
add_library(executor_torch_headers STATIC ${CMAKE_BINARY_DIR}/torch_headers.cpp)
target_link_libraries(executor_torch_headers PRIVATE meshwright_options torch_cpu_only fmt::fmt)   # fmt: the macros of every room
target_precompile_headers(executor_torch_headers PRIVATE ${PROJECT_SOURCE_DIR}/executor/torch_headers.h)

# add_room and add_room_test for sources that see LibTorch: the same arguments, plus the precompiled header and torch_cpu_only.
function(add_executor_room)
  cmake_parse_arguments(ROOM "" "NAME" "" ${ARGN})
  add_room(${ARGN})
  target_link_libraries(${ROOM_NAME} PUBLIC torch_cpu_only)
  target_precompile_headers(${ROOM_NAME} REUSE_FROM executor_torch_headers)
endfunction()

function(add_executor_room_test)
  cmake_parse_arguments(TEST "" "NAME" "" ${ARGN})
  add_room_test(${ARGN} PRECOMPILED executor_torch_headers)
  target_link_libraries(${TEST_NAME} PRIVATE torch_cpu_only)
endfunction()
