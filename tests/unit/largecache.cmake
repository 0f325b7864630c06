foreach(part ring in_use_table config large emulation extremes family policies adaptive pressure threads)
  zerotax_unit_test(largecache_${part}_test LIBRARIES largecache_core)
endforeach()
