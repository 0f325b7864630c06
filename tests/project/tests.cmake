# The library that writes the schemas of results.
set(libraries zerotax_base)
