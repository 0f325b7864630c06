# The suite over a kernel that tells one lie at a time (lies/). Every promise must be reported as broken under some lie.
if(TARGET zerotax-contract)
  file(GLOB lie_sources CONFIGURE_DEPENDS ${folder}/lies/*.c)
  zerotax_contract_suite(contract-liar ${lie_sources})
  target_include_directories(contract-liar PRIVATE ${folder}/lies)
  target_compile_definitions(contract-liar PRIVATE ZEROTAX_CONTRACT_LIES)
  set_target_properties(contract-liar PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
# A lie for reproducers, which are ordinary programs.
if(NOT ZEROTAX_SANITIZE)
  add_library(contract-dontneed-nothing SHARED ${folder}/preload/dontneed_nothing.c)
  set_target_properties(contract-dontneed-nothing PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
