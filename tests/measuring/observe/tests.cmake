# Its stack is a real one, of code that a sanitizer does not rewrite; and a sanitizer has a memset of its own.
set(not_sanitized unwinder_test fill_test)
