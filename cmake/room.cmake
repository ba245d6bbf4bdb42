# A room is one folder of the house: one static library, the rooms it may include, nothing else.
# tests/architecture reads these calls and holds every #include against DEPENDS.
#
#   add_room(NAME sim_plan SOURCES plan.cpp DEPENDS sim_model sim_cluster)      -> target sim_plan
#   add_room_test(NAME sim_plan_test SOURCES plan_test.cpp DEPENDS sim_plan)    -> target, registered with ctest
# COLD: a room that reads, writes or checks, never inside a search; -O1 halves the time its JSON and CLI11 templates take to compile.
function(add_room)
  cmake_parse_arguments(ROOM "COLD" "NAME" "SOURCES;DEPENDS;PRIVATE_LIBRARIES;LIBRARIES" ${ARGN})
  add_library(${ROOM_NAME} STATIC ${ROOM_SOURCES})
  target_include_directories(${ROOM_NAME} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ROOM_NAME} PUBLIC meshwright_options ${ROOM_DEPENDS} ${ROOM_LIBRARIES}
                                     PRIVATE ${ROOM_PRIVATE_LIBRARIES})
  if(ROOM_COLD)
    target_compile_options(${ROOM_NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# Tests share a precompiled header (tests/CMakeLists.txt), unless PRECOMPILED names another one; they are optimized a little only,
# and in a debug build not at all: half the processor time of the compiler. HOT: one that computes for minutes itself.
function(add_room_test)
  cmake_parse_arguments(TEST "HOT" "NAME;LABEL;PRECOMPILED" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${TEST_NAME} ${TEST_SOURCES})
  target_link_libraries(${TEST_NAME} PRIVATE meshwright_options ${TEST_DEPENDS} GTest::gmock_main)
  if(TEST_PRECOMPILED)
    target_precompile_headers(${TEST_NAME} REUSE_FROM ${TEST_PRECOMPILED})
  else()
    target_link_libraries(${TEST_NAME} PRIVATE fmt::fmt Boost::headers)   # the macros of the precompiled header
    if(TEST_HOT)
      target_compile_options(${TEST_NAME} PRIVATE -O1)   # one source, so nothing would share its header
    else()
      target_compile_options(${TEST_NAME} PRIVATE ${MESHWRIGHT_TEST_OPTIONS})
      target_precompile_headers(${TEST_NAME} REUSE_FROM test_headers)
    endif()
  endif()
  add_test(NAME ${TEST_NAME} COMMAND ${TEST_NAME} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(TEST_LABEL)
    set_tests_properties(${TEST_NAME} PROPERTIES LABELS ${TEST_LABEL})
  endif()
endfunction()
