target_sources(point_tests PRIVATE ${folder}/metrics_page.cc ${folder}/metrics_schema.cc)
set_source_files_properties(${folder}/metrics_page.cc ${folder}/metrics_schema.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
