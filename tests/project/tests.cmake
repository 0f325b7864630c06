# The tests that write the schemas of results need this library.
set(libraries zerotax_base)
