set(libraries largecache_core zerotax_os)
# In these tests, a second thread deliberately races for a descriptor, which the thread sanitizer would report. The
# tests are also numerous.
if(ZEROTAX_SANITIZE MATCHES thread)
  set(not_sanitized largecache_hard_mappings_test largecache_hard_pages_test largecache_hard_kernel_writes_test
    largecache_hard_pagemap_test largecache_hard_limits_test)
endif()
