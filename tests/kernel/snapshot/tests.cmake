# Alternatives that fail on purpose. A build without tests does not have these alternatives.
if(TARGET fork-snapshot)
  target_sources(fork-snapshot PRIVATE ${CMAKE_CURRENT_LIST_DIR}/planted_alternatives.cc)
endif()
