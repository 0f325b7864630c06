get_property(used GLOBAL PROPERTY ZEROTAX_USES_compare)
target_link_libraries(benchmark-compare-alarms PRIVATE zerotax_compare ${used})
