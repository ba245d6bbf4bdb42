# LibTorch from the PyPI wheel (torch 2.11.0), CPU libraries only: no CUDA toolkit is needed and a process starts in 0.3 s. MESHWRIGHT_CUDA
# adds the CUDA libraries.
set(MESHWRIGHT_TORCH "" CACHE PATH "Folder of the torch package (site-packages/torch); default: the venv in .deps, else that of python3")
if(NOT MESHWRIGHT_TORCH)
  file(GLOB found ${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch)
  if(NOT found)
    execute_process(COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
                    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(MESHWRIGHT_TORCH "${found}" CACHE PATH "" FORCE)
endif()
if(NOT EXISTS ${MESHWRIGHT_TORCH}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "LibTorch is missing: run cmake/setup.sh (pip package torch==2.11.0), or pass -DMESHWRIGHT_TORCH=<site-packages/torch>")
endif()

add_library(libtorch INTERFACE)
target_include_directories(libtorch SYSTEM INTERFACE ${MESHWRIGHT_TORCH}/include ${MESHWRIGHT_TORCH}/include/torch/csrc/api/include)
target_link_libraries(libtorch INTERFACE ${MESHWRIGHT_TORCH}/lib/libtorch_cpu.so ${MESHWRIGHT_TORCH}/lib/libc10.so)
# The wheel brings headers of a newer fmt than the system's library, and they are found first: take them without a library.
target_compile_definitions(libtorch INTERFACE FMT_HEADER_ONLY=1)
target_link_options(libtorch INTERFACE -Wl,-rpath,${MESHWRIGHT_TORCH}/lib)
if(MESHWRIGHT_CUDA)
  include(cuda)
endif()

# One precompiled header for every executor room and its tests; compiled once, by this library (it holds nothing else).
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/torch_headers.cpp CONTENT "// Carries the precompiled header executor/torch_headers.h.\n")
add_library(executor_torch_headers STATIC ${CMAKE_BINARY_DIR}/torch_headers.cpp)
target_link_libraries(executor_torch_headers PRIVATE meshwright_options libtorch fmt::fmt)   # fmt: the macros of every room
target_precompile_headers(executor_torch_headers PRIVATE ${PROJECT_SOURCE_DIR}/executor/torch_headers.h)

# add_room and add_room_test for sources that see LibTorch: the same arguments, plus the precompiled header and libtorch.
function(add_executor_room)
  cmake_parse_arguments(ROOM "" "NAME" "" ${ARGN})
  add_room(${ARGN})
  target_link_libraries(${ROOM_NAME} PUBLIC libtorch)
  target_precompile_headers(${ROOM_NAME} REUSE_FROM executor_torch_headers)
endfunction()

function(add_executor_room_test)
  cmake_parse_arguments(TEST "" "NAME" "" ${ARGN})
  add_room_test(${ARGN} PRECOMPILED executor_torch_headers)
  target_link_libraries(${TEST_NAME} PRIVATE libtorch)
endfunction()
