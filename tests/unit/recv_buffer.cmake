# The server of the case recv_buffer is the helper process that there is.
if(TARGET recv-server)
  zerotax_unit_test(helper_process_test LIBRARIES zerotax_os)
  target_compile_definitions(helper_process_test PRIVATE RECV_SERVER="$<TARGET_FILE:recv-server>")
  add_dependencies(helper_process_test recv-server)
endif()
