# The tests make plans, so they need the library of the room `run`.
set(libraries zerotax_run)
