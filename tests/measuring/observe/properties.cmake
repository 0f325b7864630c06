# The test unwinds real calls, so they must not become jumps.
set_source_files_properties(${folder}/unwinder_test.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS
  -fno-optimize-sibling-calls)
