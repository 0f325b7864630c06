if(TARGET helper_process_test)
  target_compile_definitions(helper_process_test PRIVATE RECV_SERVER="$<TARGET_FILE:recv-server>")
  add_dependencies(helper_process_test recv-server)
endif()
