# A fork of a sanitized process shares the sanitizer's memory too: what the child copies is not the block alone.
if(NOT ZEROTAX_SANITIZE)
  zerotax_unit_test(fork_writes_test LIBRARIES zerotax_meter)
endif()
zerotax_unit_test(fork_model_test LIBRARIES zerotax_analyze)
