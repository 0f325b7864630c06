# Points come from plans, which the library of the room `run` makes. Only this folder makes the page and schema of the
# metrics.
set(libraries zerotax_run)
