# What the schemas of results are written with.
set(libraries zerotax_base)
