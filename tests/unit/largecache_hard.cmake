# Each hard case: a dirty block is mistreated, freed and asked for again.
foreach(part mappings pages kernel_writes pagemap limits fork)
  zerotax_unit_test(largecache_hard_${part}_test LIBRARIES largecache_core)
endforeach()
