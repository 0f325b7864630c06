# Each hard case: a dirty block is mistreated, freed and asked for again.
set(largecache_hard fork)
# The others hardly have a second thread, or one whose business is to race (for a descriptor); and they are many.
if(NOT ZEROTAX_SANITIZE MATCHES thread)
  list(APPEND largecache_hard mappings pages kernel_writes pagemap limits)
endif()
foreach(part IN LISTS largecache_hard)
  zerotax_unit_test(largecache_hard_${part}_test LIBRARIES largecache_core)
endforeach()
