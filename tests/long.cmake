# Tests that ./run test leaves to ./run test --all. Each test takes a minute or more on a slow machine, and finds
# problems that short tests rarely find. The comment beside a test says what the test checks. Each folder with its own
# CMakeLists.txt includes this file after the folder's tests, because only the folder that added a test can set the
# test's properties.
set(long_tests
  integration.awkward_test               # advise of programs whose behavior changes while it measures
  integration.bench_frameworks_test      # bench of Catch2, which measures its clock in each of 60 processes
  integration.bench_steady_test          # twenty steady programs, of which bench may report none
  integration.planted_proved_test        # each planted allocator, by a sequence that knows its mistake
  integration.prove_test                 # zerotax prove on planted allocators, each for up to a minute
  integration.prove_process_test         # the process of prove, with hostile libraries
  integration.production_test            # docs/top.md, in which a storm is found, explained and cured
  integration.programs_benchmark_test    # the whole benchmark-programs
  integration.policies_benchmark_test    # the whole benchmark-policies
  integration.contract_places_test       # the promises on other kernels and architectures, under QEMU
  integration.arm64_test                 # counts on emulated arm64 with pages of 4 and 16 KiB; needs ./run arm64
  integration.contract_lies_test         # 85 lies to the contract test, each caught by its promise
  integration.planted_regressions_test   # each kind of regression, planted into an allocator and found by check
  integration.traps_test                 # changes that check must not report
  integration.fork_after_calloc_test     # the case fork_after_calloc at all of its sizes
  integration.compare_along_test         # planted allocators that cross at known sizes
  integration.debian_history_test        # the packages of jemalloc in four releases, fetched and measured
  integration.bisect_merges_test         # bisect in histories with merges, built commit by commit
  integration.largecache_hard_nobody_test  # the hard cases of largecache as an ordinary user
  integration.report_page_access_test    # the page as a screen reader sees it
  integration.report_page_comparison_test  # the page of a comparison in a browser
  integration.report_page_firefox_test   # the page in a second browser
  regression.jemalloc                    # this and the next four tests compare Debian's version of an allocator
  regression.mimalloc                    # with its baseline; ./run test compares only glibc and largecache
  regression.scudo
  regression.tbbmalloc
  regression.tcmalloc
  regression.largecache_constants_test   # changes of largecache's constants, each of which is noticed
  regression.largecache_faults_test      # 76 mistakes in largecache's source, each of which is caught
  stress.machines_test                   # every count under the kernels of four releases of Debian, as root and as nobody
  stress.package_test                    # the Debian package, the archive and the wheel, built and used on bare systems
  stress.fresh_clone_test                # the project, compiled on a bare Debian
  stress.recipe_test                     # the recipe for GitHub, in a copy of its image
  stress.newest_interpreters_test        # who causes copies, and remedies, in Debian's newest Python and Ruby
  stress.check_alarms_test               # check without false alarms, idle and beside busy processes
  stress.largecache_minute               # six times as many collisions of threads as in stress.largecache
  integration.cow_mixes_test             # 50,000 random faults of each kind of program
  integration.cow_limits_test            # kernel buffers that overflow
  integration.cow_sampling_test          # sampled faults, by each method of sampling
  integration.snapshot_remedies_test     # each remedy against the copies of a snapshot
  integration.snapshot_published_test    # the published results of snapshot
  integration.snapshot_sweep_test        # a sweep over sizes and shares
  integration.report_page_test           # the page in a browser, figure by figure
  integration.record_containers_test     # namespaces, and forbidden perf events
  integration.record_outside_sites_test  # call sites of recordings from outside, in every kind of program
  integration.record_unseen_test         # memory that a recording cannot see, and reports as unseen
  integration.record_maps_test           # perf maps of Node, Python and Java
  integration.largecache_workloads_more_test  # Node, SQLite and TLS on largecache
  integration.largecache_real_programs_test   # a compiler, Python and others on largecache
  integration.machine_test               # a machine that boots without KVM
  integration.script_names_test          # functions of scripts, in and out of containers
  integration.program_live_heap_test     # the peak of the live heap, exactly
  integration.slurm_commands_test        # each command on a cluster
  integration.workloads_test             # each recorded workload, replayed and checked
  unit.largecache_hard_mappings_test     # 65,530 mappings
  unit.largecache_hard_pages_test        # every operation that makes a page dirty
)
zerotax_label(long ${long_tests})
