# The tests that write the schemas of results need these libraries.
set(libraries zerotax_base zerotax_point)
