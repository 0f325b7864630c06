# Points come from plans, which are made in run. The page and schema of the metrics are made here alone.
set(libraries zerotax_run)
