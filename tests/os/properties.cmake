if(TARGET recv-server)
  target_compile_definitions(os_tests PRIVATE RECV_SERVER="$<TARGET_FILE:recv-server>")
  add_dependencies(os_tests recv-server)
endif()
