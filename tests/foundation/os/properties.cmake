if(TARGET recv-server)
  target_compile_definitions(os_tests PRIVATE RECV_SERVER="$<TARGET_FILE:recv-server>")
  add_dependencies(os_tests recv-server)
endif()

# Repeats the tests with the seccomp filter that replaces dispatch on older kernels.
add_test(NAME unit.syscall_counter_by_filter COMMAND os_tests --gtest_filter=SyscallCounterTest.*)
set_tests_properties(unit.syscall_counter_by_filter PROPERTIES LABELS unit TIMEOUT ${limit} ENVIRONMENT ZEROTAX_SYSCALLS=seccomp)
