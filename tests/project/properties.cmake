# The tests include the headers of all rooms' results, but link none of the rooms.
target_include_directories(project_tests PRIVATE ${CMAKE_SOURCE_DIR}/harness/measuring ${CMAKE_SOURCE_DIR}/harness/kernel
  ${CMAKE_SOURCE_DIR}/harness/program ${CMAKE_SOURCE_DIR}/harness/allocator ${CMAKE_SOURCE_DIR}/harness/regression
  ${CMAKE_SOURCE_DIR}/recorder ${CMAKE_SOURCE_DIR}/recorder/include ${CMAKE_SOURCE_DIR}/tests)
# The exception is the tables of metrics, from which the schemas are made.
target_sources(project_tests PRIVATE ${CMAKE_SOURCE_DIR}/harness/program/record/runs/metrics.cc)
set_source_files_properties(${folder}/written_trace_schemas_test.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
