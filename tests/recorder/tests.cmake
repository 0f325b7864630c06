set(one_by_one TRUE)
set(libraries zerotax_recorder_static zerotax_trace)
