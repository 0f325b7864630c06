zerotax_unit_test(profile_report_test LIBRARIES zerotax_analyze)
zerotax_unit_test(kernel_symbols_test LIBRARIES zerotax_trace)
# Its stack is a real one, of code that a sanitizer does not rewrite.
if(NOT ZEROTAX_SANITIZE)
  zerotax_unit_test(unwinder_test LIBRARIES zerotax_trace)
  target_compile_options(unwinder_test PRIVATE -fno-optimize-sibling-calls)
endif()
