set(not_sanitized syscall_counter_test write_tracker_test)
# The helper process of the test is the server of the case recv_buffer.
if(NOT TARGET recv-server)
  set(left_out helper_process_test)
endif()
