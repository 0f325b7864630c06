target_link_libraries(benchmark-advise-alarms PRIVATE zerotax_advise zerotax_replay)
target_compile_definitions(benchmark-advise-alarms PRIVATE ZEROTAX_VERSION="${PROJECT_VERSION}")
