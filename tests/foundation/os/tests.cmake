set(not_sanitized syscall_counter_test write_tracker_test)
# The server of the case recv_buffer is the helper process that there is.
if(NOT TARGET recv-server)
  set(left_out helper_process_test)
endif()
