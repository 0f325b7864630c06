zerotax_unit_test(findings_test LIBRARIES zerotax_analyze)
    zerotax_unit_test(findings_cliff_test LIBRARIES zerotax_analyze)
        zerotax_unit_test(upstream_test LIBRARIES zerotax_analyze)
            zerotax_unit_test(stored_run_test LIBRARIES zerotax_drive)
