set(libraries largecache_core zerotax_os)
# A second thread that races on purpose (for a descriptor) would set off the thread sanitizer; and there are many.
if(ZEROTAX_SANITIZE MATCHES thread)
  set(not_sanitized largecache_hard_mappings_test largecache_hard_pages_test largecache_hard_kernel_writes_test
    largecache_hard_pagemap_test largecache_hard_limits_test)
endif()
