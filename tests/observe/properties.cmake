if(TARGET unwinder_test)
  target_compile_options(unwinder_test PRIVATE -fno-optimize-sibling-calls)
endif()
