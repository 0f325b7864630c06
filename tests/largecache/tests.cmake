set(one_by_one TRUE)
set(libraries largecache_core)
# A second thread whose business is to race (for a descriptor) is none for the thread sanitizer; and they are many.
if(ZEROTAX_SANITIZE MATCHES thread)
  set(not_sanitized largecache_hard_mappings_test largecache_hard_pages_test largecache_hard_kernel_writes_test
    largecache_hard_pagemap_test largecache_hard_limits_test)
endif()
