set(alone zeroing_test)
# Sanitizers replace memset and intercept system calls, but these tests need the real ones. A fork of a sanitized
# process also copies memory of the sanitizer, not only the block.
set(not_sanitized audit_test audit_doubts_test zeroing_hook_test allocator_clock_test zeroing_test
  fork_writes_test page_account_test)
