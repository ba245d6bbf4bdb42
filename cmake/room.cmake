# A room is one folder of the house: one static library, the rooms it may include, nothing else.
# tests/architecture reads these calls and holds every #include against DEPENDS.
#
#   add_room(NAME sim_plan SOURCES plan.cpp DEPENDS sim_model sim_cluster)      -> target sim_plan
#   add_room_test(NAME sim_plan_test SOURCES plan_test.cpp DEPENDS sim_plan)    -> target, registered with ctest
function(add_room)
  cmake_parse_arguments(ROOM "" "NAME" "SOURCES;DEPENDS;PRIVATE_LIBRARIES;LIBRARIES" ${ARGN})
  add_library(${ROOM_NAME} STATIC ${ROOM_SOURCES})
  target_include_directories(${ROOM_NAME} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ROOM_NAME} PUBLIC meshwright_options ${ROOM_DEPENDS} ${ROOM_LIBRARIES}
                                     PRIVATE ${ROOM_PRIVATE_LIBRARIES})
endfunction()

function(add_room_test)
  cmake_parse_arguments(TEST "" "NAME;LABEL" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${TEST_NAME} ${TEST_SOURCES})
  target_link_libraries(${TEST_NAME} PRIVATE meshwright_options ${TEST_DEPENDS} GTest::gmock_main)
  add_test(NAME ${TEST_NAME} COMMAND ${TEST_NAME} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(TEST_LABEL)
    set_tests_properties(${TEST_NAME} PROPERTIES LABELS ${TEST_LABEL})
  endif()
endfunction()
