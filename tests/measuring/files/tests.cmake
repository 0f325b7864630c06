# Plans are made in run.
set(libraries zerotax_run)
