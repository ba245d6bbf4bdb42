# What --version says: release, commit, compiler, parts. The commit is asked at each build; the file changes where it does.
find_package(Git QUIET)
set(version_file ${CMAKE_BINARY_DIR}/generated/version.cpp)
if(MESHWRIGHT_COMMIT_OF)   # the build's own call of this file
  cmake_policy(VERSION 3.25)
  execute_process(COMMAND ${GIT} -C ${MESHWRIGHT_COMMIT_OF} describe --always --dirty --abbrev=9 OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  file(CONFIGURE OUTPUT ${VERSION_FILE} CONTENT "// Made by cmake/version.cmake.\n#include \"cli/version.h\"\nconst char* const cli::kCommit = \"@commit@\";\n" @ONLY)
  return()
endif()
set(parts planner)
foreach(part worker CUDA window)
  string(REPLACE worker EXECUTOR option ${part})
  string(REPLACE window GUI option ${option})
  if(MESHWRIGHT_${option})
    list(APPEND parts ${part})
  endif()
endforeach()
list(JOIN parts ", " parts)
add_custom_target(meshwright_commit BYPRODUCTS ${version_file}
                  COMMAND ${CMAKE_COMMAND} -DMESHWRIGHT_COMMIT_OF=${PROJECT_SOURCE_DIR} -DGIT=${GIT_EXECUTABLE} -DVERSION_FILE=${version_file} -P
                          ${PROJECT_SOURCE_DIR}/cmake/version.cmake)
add_library(meshwright_version STATIC ${version_file})
set_target_properties(meshwright_version PROPERTIES UNITY_BUILD OFF)
add_dependencies(meshwright_version meshwright_commit)
target_include_directories(meshwright_version PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(cli PUBLIC meshwright_version)
set_property(TARGET cli APPEND PROPERTY COMPILE_DEFINITIONS MESHWRIGHT_VERSION="${PROJECT_VERSION}" MESHWRIGHT_PARTS="${parts}"
                                                            MESHWRIGHT_COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}")
