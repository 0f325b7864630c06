# unwinder_test unwinds a real stack of code that no sanitizer may rewrite. fill_test needs the real memset, which a
# sanitizer replaces.
set(not_sanitized unwinder_test fill_test)
