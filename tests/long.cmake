# Tests that ./run test leaves to ./run test --all: each takes a minute or more of a slow machine, and finds what the
# short ones of its room would not find only in rare cases. What each keeps watch over stands beside it. Each folder with a
# CMakeLists.txt of its own includes this file after its tests: a property can be set only where its test was added.
set(long_tests
  integration.awkward_test               # advise of programs that do not keep still
  integration.bench_frameworks_test      # bench of Catch2, which measures its clock in each of 60 processes
  integration.bench_steady_test          # twenty steady programs, none of which bench may accuse
  integration.production_test            # docs/production.md: a storm found, explained and cured
  integration.programs_benchmark_test    # benchmark-programs, whole
  integration.policies_benchmark_test    # benchmark-policies, whole
  integration.contract_places_test       # the promises on other kernels and architectures, under QEMU
  integration.arm64_test                 # counts on arm64 with pages of 4 and 16 KiB, emulated; needs ./run arm64
  integration.contract_lies_test         # 85 lies, each caught by its promise
  integration.planted_regressions_test   # each kind of regression, planted into an allocator and found by check
  integration.traps_test                 # changes that check must not report
  integration.fork_after_calloc_test     # the case, at all of its sizes
  integration.compare_along_test         # crossings of planted allocators whose place is known
  integration.debian_history_test        # the packages of jemalloc in four releases, fetched and measured
  integration.bisect_merges_test         # bisect in histories with merges, built commit by commit
  integration.largecache_hard_nobody_test  # the hard cases of largecache as an ordinary user
  integration.report_page_access_test    # the page with a screen reader's eyes
  integration.report_page_comparison_test  # the page of a comparison in a browser
  integration.report_page_firefox_test   # the page in a second browser
  regression.jemalloc                    # versions of Debian against their baselines, which change with them: of these
  regression.mimalloc                    # ./run test checks glibc's, and that of largecache, which is ours
  regression.scudo
  regression.tbbmalloc
  regression.tcmalloc
  regression.largecache_constants_test   # each constant of largecache, changed, is noticed
  regression.largecache_faults_test      # 76 mistakes in largecache's source, each caught
  stress.machines_test                   # every count under the kernels of four releases of Debian, as root and as nobody
  stress.package_test                    # the Debian package, the archive and the wheel, made and used on bare systems
  stress.fresh_clone_test                # the project compiled on a bare Debian
  stress.recipe_test                     # the recipe for GitHub, in a copy of its image
  stress.check_alarms_test               # no false alarm of check, idle and beside busy processes
  stress.largecache_minute               # six times as many meetings of its threads as in stress.largecache
  integration.cow_mixes_test             # 50,000 random faults of each kind of program
  integration.cow_limits_test            # buffers of the kernel that overflow
  integration.cow_sampling_test          # faults that are sampled, in each of the ways
  integration.snapshot_remedies_test     # what avoids a snapshot's copies, each tried
  integration.snapshot_published_test    # the published programs
  integration.snapshot_sweep_test        # a sweep over sizes and shares
  integration.report_page_test           # the page in a browser, figure by figure
  integration.record_containers_test     # namespaces, and perf events that are forbidden
  integration.record_outside_sites_test  # call sites from outside, in every kind of program
  integration.record_unseen_test         # what a recording cannot see, and says so
  integration.record_maps_test           # perf maps of Node, Python and Java
  integration.largecache_workloads_more_test  # Node, SQLite and TLS on largecache
  integration.largecache_real_programs_test   # a compiler, Python and others on largecache
  integration.machine_test               # boots a machine without KVM
  integration.script_names_test          # functions of scripts, in and out of containers
  integration.program_live_heap_test     # the peak of the live heap, exactly
  integration.slurm_commands_test        # each command on a cluster
  integration.workloads_test             # each recorded workload, replayed and checked
  unit.largecache_hard_mappings_test     # 65,530 mappings
  unit.largecache_hard_pages_test        # every way in which a page becomes dirty
)
zerotax_label(long ${long_tests})
