set(alone zeroing_test)
# A sanitizer intercepts memset and userfaultfd's SIGSYS-free world with functions of its own: these look at the real ones. A
# fork of a sanitized process shares the sanitizer's memory too: what the child copies is not the block alone.
set(not_sanitized audit_test audit_doubts_test zeroing_hook_test allocator_clock_test zeroing_test
  fork_writes_test page_account_test)
