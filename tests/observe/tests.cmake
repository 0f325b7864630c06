set(one_by_one TRUE)
# Its stack is a real one, of code that a sanitizer does not rewrite.
set(not_sanitized unwinder_test)
