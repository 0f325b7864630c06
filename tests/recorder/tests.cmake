set(alone recorder.*_test)
set(libraries zerotax_recorder_static zerotax_trace)
