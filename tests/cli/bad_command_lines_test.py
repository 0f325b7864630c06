"""No command line that makes no sense is measured, waited for or passed over: status 2, one line, nothing changed."""

import functools
import os
import shlex
import shutil

import pytest
from conftest import PLANTED, SOURCE, ZEROTAX, zerotax
from refusing import check_refusal, contents, try_all, try_line

# One command line a row, split as a shell would, and after | a word that its refusal must have. They run in a folder of:
#   run.json results/ baseline.json   valid ones         pipe      a FIFO          loop    a link to itself
#   libnever.so program               a library, a program   full/     a folder with a file, mine.txt
#   link.json hard.json               links to run.json  trace/    a trace
TABLE = r"""
''                                                            | choose:
rnu                                                           | did you mean run?
thresh                                                        | did you mean thresholds?
bogus                                                         | 'bogus'
Run                                                           | did you mean run?
RUN --size 1MiB                                               | did you mean run?
runn --size 1MiB                                              | did you mean run?
tresholds                                                     | did you mean thresholds?
-- run --size 1MiB                                            | '--'
--bogus                                                       | --bogus
--version extra                                               | extra
--version run                                                 | run
--version --version                                           | --version
--version ''                                                  | --version
--version=                                                    | --version
--version=no                                                  | --version
--help=no                                                     | --help
-x                                                            | -x
run --sise 1MiB                                               | did you mean --size?
run --size 100M                                               | did you mean 100MiB or 100MB?
run --size 1g --allocator glibc                               | did you mean 1GiB or 1GB?
run --allocator glibc --size 1.5K                             | 1.5KiB or 1.5kB
run --allocator glibc --size 1MiB --plot                      | --plot
run --plot=x --allocator glibc                                | x
run --color sometimes                                         | choose: auto, always, never
run --color ''                                                | choose: auto
run --color                                                   | --color
run --color never --color always                              | --color
run --colour alwys                                            | did you mean always?
run --size 1MiB --allocator largecache --env largecache:LARGECACHE_POLICY=adaptve | did you mean adaptive?
report --allocator glibc --finding glibc-redundnt-reuse-20MiB | did you mean redundant-reuse?
run --allocator glibc --thread wroker                         | did you mean worker?
run run                                                       | run
run check                                                     | check
run --size 1MiB list                                          | list
run --allocator glibc --size                                  | --size
run --allocator --size 1MiB                                   | 1MiB
contract --seconds 0                                          | --seconds
contract --seconds -1                                         | --seconds
contract --promise dontned                                       | dontneed
contract --json run.json/x                                    | run.json
contract --results nothing.jsonl                                  | nothing.jsonl
contract --results nothing.jsonl --promise dontneed                  | --results
contract --under nothing-here --promise dontneed                  | nothing-here
contract extra                                                | extra
loop --ops 0                                                  | --ops
loop --calls 0                                                | --ops
loop --ops 1e3                                                | --ops
loop --seconds 0                                              | --seconds
loop --seconds -1                                             | --seconds
loop --touch 1.5                                              | --touch
loop --size 0                                                 | zero
loop --allocator nobody                                       | nobody
loop --json run.json/x                                        | run.json
loop extra                                                    | extra
thresholds --case malloc_loop                                 | malloc_loop
thresholds --case ''                                          | --case
clients --client cffi_1_8                                     | cffi_1_8
run --allocator glibc --size 1MiB extra                       | extra
run --allocator glibc --size 1MiB --bogus                     | --bogus
run --allocator glibc --Size 1MiB                             | --Size
run --allocator glibc -size 1MiB                              | -s
run --allocator glibc --size 0                                | zero
run --allocator glibc --size 0.0                              | zero
run --allocator glibc --size 0KiB                             | zero
run --allocator glibc --size -1                               | -1
run --allocator glibc --size=-1                               | -1
run --allocator glibc --size +1MiB                            | +1MiB
run --allocator glibc --size 1mib                             | mib
run --allocator glibc --size 1MIB                             | MIB
run --allocator glibc --size 1KB                              | KB
run --allocator glibc --size '1 XB'                           | XB
run --allocator glibc --size 1MiB,2MiB                        | 1MiB,2MiB
run --allocator glibc --size '1 MiB '                         | MiB
run --allocator glibc --size ' 1MiB'                          | 1MiB
run --allocator glibc --size 1e6                              | 1e6
run --allocator glibc --size 0x1000                           | 0x1000
run --allocator glibc --size nan                              | nan
run --allocator glibc --size inf                              | inf
run --allocator glibc --size ''                               | number
run --allocator glibc --size .                                | '.'
run --allocator glibc --size ..5MiB                           | ..5
run --allocator glibc --size 0.3                              | whole number
run --allocator glibc --size 1.0000001KiB                     | whole number
run --allocator glibc --size 18446744073709551615             | address space
run --allocator glibc --size 18446744073709551616             | address space
run --allocator glibc --size 140737488355328                  | address space
run --allocator glibc --size 99999999999GiB                   | address space
run --allocator glibc --size 1MiB --size 0                    | zero
run --allocator glibc --size 1MiB --touch 1.1                 | 0 to 1
run --allocator glibc --size 1MiB --touch -0.1                | 0 to 1
run --allocator glibc --size 1MiB --touch nan                 | nan
run --allocator glibc --size 1MiB --touch -nan                | nan
run --allocator glibc --size 1MiB --touch inf                 | inf
run --allocator glibc --size 1MiB --touch infinity            | inf
run --allocator glibc --size 1MiB --touch 0x1p-1              | 0x1p-1
run --allocator glibc --size 1MiB --touch 0.5x                | 0.5x
run --allocator glibc --size 1MiB --touch 1e400               | 1e400
run --allocator glibc --size 1MiB --touch 50%                 | 50%
run --allocator glibc --size 1MiB --touch 0,5                 | 0,5
run --allocator glibc --size 1MiB --touch ''                  | --touch
run --allocator glibc --size 1MiB --touch ' 1'                | --touch
run --allocator glibc --size 1MiB --thread Main               | 'Main'
run --allocator glibc --size 1MiB --thread ''                 | main or worker
run --allocator glibc --size 1MiB --thread 1                  | main or worker
run --allocator glibc --size 1MiB --ops 0                     | --ops
run --allocator glibc --size 1MiB --ops -5                    | --ops
run --allocator glibc --size 1MiB --ops 100001                | 100000
run --allocator glibc --size 1MiB --ops 1.5                   | 1.5
run --allocator glibc --size 1MiB --ops 0x10                  | 0x10
run --allocator glibc --size 1MiB --ops 010                   | 010
run --allocator glibc --size 1MiB --ops 1e3                   | 1e3
run --allocator glibc --size 1MiB --ops 5x                    | 5x
run --allocator glibc --size 1MiB --ops ' 5'                  | --ops
run --allocator glibc --size 1MiB --ops ''                    | --ops
run --allocator glibc --size 1MiB --ops nan                   | nan
run --allocator glibc --size 1MiB --ops 99999999999999999999  | --ops
run --allocator glibc --size 1MiB --ops 2 --ops 3             | --ops
run --allocator glibc --size 1MiB --timeout 0                 | more than 0
run --allocator glibc --size 1MiB --timeout -0                | more than 0
run --allocator glibc --size 1MiB --timeout -1                | more than 0
run --allocator glibc --size 1MiB --timeout nan               | nan
run --allocator glibc --size 1MiB --timeout inf               | 86400
run --allocator glibc --size 1MiB --timeout 86401             | 86400
run --allocator glibc --size 1MiB --timeout 0x10              | 0x10
run --allocator glibc --size 1MiB --timeout 1s                | 1s
run --allocator glibc --size 1MiB --timeout 1e999             | 1e999
run --allocator glibc --size 1MiB --timeout 5 --timeout 6     | --timeout
run --allocator glibc --size 1MiB --case bogus                | 'bogus'
run --allocator glibc --size 1MiB --case Calloc_Loop          | did you mean calloc_loop?
run --allocator glibc --size 1MiB --case calloc_lop           | did you mean calloc_loop?
run --allocator glibc --size 1MiB --case ''                   | unknown case
run --allocator glibc --size 1MiB --case fork_snapshot        | zerotax snapshot
run --allocator GLIBC --size 1MiB                             | did you mean glibc?
run --allocator Jemalloc --size 1MiB                          | did you mean jemalloc?
run --allocator jemaloc --size 1MiB                           | did you mean jemalloc?
run --allocator '' --size 1MiB                                | name
run --allocator = --size 1MiB                                 | name
run --allocator =libnever.so --size 1MiB                      | name
run --allocator a/b=libnever.so --size 1MiB                   | name
run --allocator ../a=libnever.so --size 1MiB                  | name
run --allocator ..=libnever.so --size 1MiB                    | name
run --allocator .=libnever.so --size 1MiB                     | name
run --allocator=-x=libnever.so --size 1MiB                    | option
run --allocator=--json=libnever.so --size 1MiB                | option
run --allocator 'a b=libnever.so' --size 1MiB                 | name
run --allocator a:b=libnever.so --size 1MiB                   | name
run --allocator a,b=libnever.so --size 1MiB                   | name
run --allocator 'a"b=libnever.so' --size 1MiB                 | name
run --allocator 'a\b=libnever.so' --size 1MiB                 | name
run --allocator mine= --size 1MiB                             | library
run --allocator mine=absent.so --size 1MiB                    | absent.so
run --allocator mine=full --size 1MiB                         | full
run --allocator mine=pipe --size 1MiB                         | pipe
run --allocator mine=loop --size 1MiB                         | loop
run --allocator mine=run.json --size 1MiB                     | run.json
run --allocator mine=/dev/null --size 1MiB                    | /dev/null
run --allocator mine=/dev/zero --size 1MiB                    | /dev/zero
run --allocator mine=program --size 1MiB                      | program
run --allocator ./libnever.so --size 1MiB                     | name
run --allocator glibc --allocator glibc --size 1MiB           | twice
run --allocator a=libnever.so --allocator a=libnever.so --size 1MiB | twice
run --allocator glibc=libnever.so --allocator glibc --size 1MiB | twice
run --allocator glibc --size 1MiB --env glibc:LD_PRELOAD=libnever.so | --allocator
run --allocator m=libnever.so --size 1MiB --env m:LD_PRELOAD=libnever.so | --allocator
run --allocator glibc --size 1MiB --env glibc:ZEROTAX_PROBE_DIR=/ | ZEROTAX_
run --allocator glibc --size 1MiB --env glibc:ZEROTAX_TRACE_DIR=x | ZEROTAX_
run --allocator glibc --size 1MiB --env glibc                 | NAME:KEY=VALUE
run --allocator glibc --size 1MiB --env glibc:                | NAME:KEY=VALUE
run --allocator glibc --size 1MiB --env glibc:KEY             | NAME:KEY=VALUE
run --allocator glibc --size 1MiB --env glibc:=v              | NAME:KEY=VALUE
run --allocator glibc --size 1MiB --env KEY=v                 | NAME:KEY=VALUE
run --allocator glibc --size 1MiB --env ''                    | NAME:KEY=VALUE
run --allocator glibc --size 1MiB --env :KEY=v                | ''
run --allocator glibc --size 1MiB --env GLIBC:KEY=v           | 'GLIBC'
run --allocator glibc --size 1MiB --env 'glibc:A B=v'         | 'A B'
run --allocator glibc --size 1MiB --env glibc:A=1 --env glibc:A=2 | twice
run --allocator glibc --size 1MiB --json ''                   | --json
run --allocator glibc --size 1MiB --json                      | --json
run --allocator glibc --size 1MiB --json full                 | full
run --allocator glibc --size 1MiB --json full/mine.txt/x      | mine.txt
run --allocator glibc --size 1MiB --json absent/x.json        | absent
run --allocator glibc --size 1MiB --json /proc/nope           | /proc/nope
run --allocator glibc --size 1MiB --json a.json --json b.json | --json
run --allocator m=libnever.so --size 1MiB --json libnever.so  | overwrite
run --allocator m=libnever.so --size 1MiB --json ./full/../libnever.so | overwrite
run --allocator m=libnever.so --size 1MiB --json hardlib.so   | overwrite
run --allocator m=libnever.so --size 1MiB --json linklib.so   | overwrite
run --allocator glibc --size 1MiB --out ''                    | --out
run --allocator glibc --size 1MiB --out full                  | not empty
run --allocator glibc --size 1MiB --out results               | not empty
run --allocator glibc --size 1MiB --out run.json              | run.json
run --allocator glibc --size 1MiB --out pipe                  | pipe
run --allocator glibc --size 1MiB --out /proc/nope            | /proc/nope
run --allocator glibc --size 1MiB --out new --json new/run.json | --out
run --allocator glibc --size 1MiB --out empty --json empty/x.json | --out
run --allocator glibc --size 1MiB --out empty --json ./full/../empty/x.json | --out
run --resume ''                                               | --resume
run --resume absent                                           | absent
run --resume full                                             | full
run --resume run.json                                         | run.json
run --resume pipe                                             | pipe
run --resume results --size 1MiB                              | --size
run --resume results --allocator glibc                        | --allocator
run --resume results --out new                                | --out
run --resume results --json results/points.jsonl              | --resume
run --resume results --resume results                         | --resume
run --allocator glibc --size 1MiB -- program                  | --
run --allocator glibc --size 1MiB --                          | --
run --size 1MiB --on bogus                                    | bogus
run --size 1MiB --on ''                                       | --on
run --size 1MiB --shards 4                                    | --on slurm
run --size 1MiB --sbatch=--partition=x                        | --on slurm
run --size 1MiB --on slurm --shards 0                         | --shards
run --size 1MiB --on slurm --shards -1                        | --shards
run --size 1MiB --on slurm --shards 501                       | 500
run --size 1MiB --on slurm --sbatch partition                 | partition
run --size 1MiB --on slurm --sbatch ''                        | --sbatch
run --resume results --shards 4                               | --shards
run --resume results --audit-only                             | --audit-only
study --resume results --shards 4                             | --shards
study --allocator glibc --shards 4                            | --on slurm
study --audit-only=maybe                                      | maybe
thresholds --allocator glibc --out x                          | --on slurm
thresholds --allocator glibc --shards 2                       | --on slurm
thresholds --read run.json --on slurm                         | measures nothing
thresholds --read run.json --out x                            | measures nothing
shard                                                         | folder
shard results                                                 | shard
shard results x                                               | x
shard results -1                                              | -1
shard results 0                                               | fleet.json
shard absent 0                                                | fleet.json
study extra                                                   | extra
study --full=maybe --allocator glibc                          | maybe
study --allocator nobody                                      | nobody
study --allocator glibc --out full                            | not empty
study --allocator glibc --out ''                              | --out
study --allocator glibc --timeout 0                           | --timeout
study --resume absent                                         | absent
study --resume full                                           | full
study --resume results --full --out x                         | --out
study --allocator glibc -- program                            | --
study --size 1MiB                                             | --size
thresholds extra                                              | extra
thresholds --plot --color x                                   | choose: auto
thresholds --case refil_loop                                  | did you mean refill_loop?
thresholds --read absent                                      | absent
thresholds --read run.json                                    | zerotax.run/1
thresholds --read run.json --from 1MiB                        | measures nothing
thresholds --read run.json --allocator glibc                  | measures nothing
thresholds --read ''                                          | --read
thresholds --allocator nobody                                 | nobody
thresholds --allocator glibc --from 2MiB --to 1MiB            | --from
thresholds --allocator glibc --from 0                         | zero
thresholds --allocator glibc --to 0                           | zero
thresholds --allocator glibc --from ''                        | number
thresholds --allocator glibc --to 200000GiB                   | address space
thresholds --allocator glibc --grid 0                         | --grid
thresholds --allocator glibc --grid 1025                      | 1024
thresholds --allocator glibc --grid -1                        | --grid
thresholds --allocator glibc --grid 1.5                       | 1.5
thresholds --allocator glibc --grid 4294967297                | --grid
thresholds --allocator glibc --touch 2                        | 0 to 1
thresholds --allocator glibc --thread both                    | main or worker
thresholds --allocator glibc --timeout nan                    | nan
thresholds --allocator glibc --json full                      | full
thresholds --allocator glibc --json ''                        | --json
thresholds --allocator glibc --from 1MiB --from 2MiB          | --from
thresholds --allocator m=libnever.so --json libnever.so       | overwrite
thresholds --allocator glibc -- x                             | --
check                                                         | --baseline
check --allocator glibc                                       | --baseline
check --allocator glibc --baseline ''                         | --baseline
check --allocator glibc --baseline run.json                   | baseline
check --allocator glibc --baseline pipe                       | pipe
check --allocator glibc --baseline loop                       | loop
check --allocator glibc --baseline /dev/zero                  | /dev/zero
check --allocator nobody --baseline baseline.json             | nobody
check --allocator glibc --baseline baseline.json --timeout 0  | --timeout
check --allocator glibc --baseline baseline.json --size 3MiB  | no point of 3 MiB
check --allocator glibc --baseline baseline.json --size x     | 'x'
check --allocator glibc --baseline baseline.json --only x     | no such metric
check --allocator glibc --baseline baseline.json --only zeroed_byts | did you mean zeroed_bytes?
check --allocator glibc --baseline baseline.json --only calloc_ns | do not hold
check --allocator glibc --baseline baseline.json --only thresholds --size 1MiB | --size
check --allocator glibc --baseline baseline.json --tolerance x | METRIC=N
check --allocator glibc --baseline baseline.json --tolerance home=2 | no number
check --allocator glibc --baseline baseline.json --tolerance zeroed_bytes=-1 | zeroed_bytes=-1
check --allocator glibc --baseline baseline.json --tolerance zeroed_bytes=200% | zeroed_bytes=200%
check --allocator glibc --baseline baseline.json --tolerance zeroed_bytes=1 --tolerance zeroed_bytes=2 | twice
check --allocator glibc --baseline baseline.json --json baseline.json | overwrite
check --allocator glibc --baseline absent.json                | no baseline
check --allocator glibc --baseline results                    | no baseline
check --allocator jemalloc --baseline baseline.json           | not of jemalloc
check --allocator glibc --allocator jemalloc --baseline baseline.json | 2 allocators
check --baseline absent.json                                  | absent.json
check --allocator glibc --baseline baseline.json extra        | extra
check --allocator glibc --baseline baseline.json --env glibc:LD_PRELOAD=x | LD_PRELOAD
check --allocator glibc --baseline baseline.json --baseline baseline.json | --baseline
check --allocator glibc --baseline baseline.json --junit ''    | --junit
check --allocator glibc --baseline baseline.json --junit full | full
check --allocator glibc --baseline baseline.json --html baseline.json | overwrite
check --allocator glibc --baseline baseline.json --bmf a --markdown a | both write
check --allocator glibc --baseline baseline.json --github --bmf - | both write
check --allocator glibc --baseline baseline.json -- x         | --
bless                                                         | --baseline
bless --allocator glibc --baseline ''                         | --baseline
bless --allocator glibc --baseline absent/x.json              | absent
bless --allocator glibc --allocator jemalloc --baseline x.json | do not fit
bless --allocator nobody --baseline x.json                    | nobody
bless --allocator glibc --baseline /proc/nope                 | /proc/nope
bless --allocator m=libnever.so --baseline libnever.so        | overwrite
bless --allocator m=libnever.so --baseline hardlib.so         | overwrite
bless --allocator glibc --baseline x.json --timeout -1        | --timeout
bless --allocator glibc --baseline x.json -- x                | --
bless --allocator glibc --baseline x.json --size 3MiB         | 3 MiB
bless --allocator glibc --baseline run.json                   | no baseline
bless --allocator m=libnever.so --baseline baseline.json      | not of m
bless --allocator glibc --baseline baseline.json --env glibc:MALLOC_ARENA_MAX=1 | MALLOC_ARENA_MAX=1
history                                                       | --repo
history --repo ''                                             | --repo
history --repo absent --recipe mimalloc                       | absent
history --repo run.json --recipe mimalloc                     | run.json
history --repo pipe --recipe mimalloc                         | pipe
history --repo . --recipe mimaloc                             | did you mean mimalloc?
history --repo . --recipe run.json                            | zerotax.run/1
history --repo . --recipe full/                               | full
history --repo . --tags v1                                    | how to build
history --repo . --build true                                 | --library
history --repo . --build true --library x.so                  | which versions
history --repo . --recipe mimalloc --build true               | already
history --repo . --recipe mimalloc --tags ''                  | --tags
history --repo . --recipe mimalloc --tags v1 --range a..b     | together
history --repo . --recipe mimalloc --all-parents              | --range
history --repo . --recipe mimalloc --size 0                   | zero
history --repo . --recipe mimalloc --jobs 1025                | --jobs
history --repo . --recipe mimalloc --build-timeout 0          | --build-timeout
history --repo . --recipe mimalloc --timeout 86401            | 86400
history --repo . --recipe mimalloc --json full                | full
history --repo . --recipe mimalloc --out full                 | not empty
history --repo . --recipe mimalloc --out run.json             | run.json
history --repo . --recipe mimalloc --out absent/x             | absent
history --repo . --recipe mimalloc --shards 2                 | --on slurm
history --repo . --recipe mimalloc --on bogus                 | bogus
history --repo . --recipe mimalloc --on slurm --again         | --again
history --repo . --recipe mimalloc -- x                       | --
bisect                                                        | --
bisect --repo . --recipe mimalloc --good a                    | --bad
bisect --repo . --recipe mimalloc --good a --bad ''           | --bad
bisect --repo absent --recipe mimalloc --good a --bad b       | absent
bisect --repo . --recipe mimalloc --good a --bad b --expect '' | --expect
bisect --repo . --recipe mimalloc --good a --bad b --expect x | zeroed_bytes == 0
bisect --repo . --recipe mimalloc --good a --bad b --expect 'zeroed_bytes == 0' | --size
bisect --repo . --recipe mimalloc --good a --bad b --expect 'calloc_ns < 5' --size 1MiB | not the same
bisect --repo . --recipe mimalloc --good a --bad b --thread worker | --thread
bisect --repo . --recipe mimalloc --good a --bad b --json x --report ./x | both write
bisect-step                                                   | --job
summary                                                       | run
summary ''                                                    | path
summary absent                                                | absent
summary full                                                  | run.json
summary baseline.json                                         | zerotax.baseline/1
summary run.json results                                      | results
summary run.json --json full                                  | full
summary run.json --json run.json                              | overwrite
summary link.json --json run.json                             | overwrite
findings                                                      | run
findings ''                                                   | path
findings absent                                               | absent
findings full                                                 | run.json
findings pipe                                                 | pipe
findings loop                                                 | loop
findings /dev/zero                                            | device
findings program                                              | program
findings baseline.json                                        | zerotax.baseline/1
findings run.json results                                     | results
findings run.json --allocator nobody                          | nobody
findings run.json --allocator glbic                           | did you mean glibc?
findings run.json --allocator ''                              | ''
findings run.json --json full                                 | full
findings run.json --json ''                                   | --json
findings run.json --json run.json                             | overwrite
findings run.json --json ./run.json                           | overwrite
findings run.json --json full/../run.json                     | overwrite
findings run.json --json link.json                            | overwrite
findings run.json --json hard.json                            | overwrite
findings link.json --json run.json                            | overwrite
findings results --json results/run.json                      | overwrite
findings results --json results/points.jsonl                  | overwrite
findings results/run.json --json results/points.jsonl         | overwrite
findings run.json --junit ''                                  | --junit
findings run.json --junit full                                | full
findings run.json --junit run.json                            | overwrite
findings run.json --markdown link.json                        | overwrite
findings results --bmf results/points.jsonl                   | overwrite
findings run.json --json a --junit a                          | both write
findings run.json --junit a --markdown ./a                    | both write
findings run.json --bmf - --json -                            | both write
findings run.json --github --junit -                          | both write
findings run.json --github --github x                         | x
findings run.json --html x                                    | --html
findings run.json -- x                                        | --
findings run.json --size 1MiB                                 | --size
compare                                                       | OLD
compare glibc                                                 | NEW
compare glibc ''                                              | NEW
compare glibc run.json                                        | a run
compare run.json glibc                                        | a run
compare run.json absent.json                                  | absent.json
compare run.json results extra                                | extra
compare run.json run.json --explain 99                        | 99
compare run.json run.json --explain 0                         | --explain
compare run.json run.json --explain ''                        | --explain
compare run.json run.json --size 1MiB                         | --size
compare run.json run.json --timeout 5                         | --timeout
compare run.json run.json --rounds 16                         | --rounds
compare run.json run.json --plot=perhaps                            | perhaps
compare run.json run.json --self-test 1                       | --self-test
compare run.json run.json --cost free                         | calloc or total
compare run.json run.json --json run.json                     | overwrite
compare run.json run.json --csv link.json                     | overwrite
compare run.json results --markdown results/points.jsonl      | overwrite
compare run.json run.json --json a.json --csv a.json          | both write
compare run.json run.json --json a.json --csv ./a.json        | both write
compare run.json run.json --markdown a.md --csv full/../a.md  | both write
compare run.json run.json --json - --csv -                    | both write
compare run.json run.json --benchmark-json x --json x-old.json | both write
compare run.json run.json --benchmark-json x --csv x-new.json | both write
compare run.json run.json --junit run.json                    | overwrite
compare run.json run.json --html link.json                    | overwrite
compare run.json run.json run.json --junit x                  | two runs
compare run.json run.json run.json --explain 1                | two runs
compare glibc jemalloc mimalloc                               | two at a time
compare run.json run.json absent.json                         | absent.json
compare run.json run.json --html ''                           | --html
compare run.json run.json --html absent/x.html                | absent
compare run.json run.json --html a --junit a                  | both write
compare run.json run.json --html - --bmf -                    | both write
compare run.json run.json --github --csv -                    | both write
compare run.json run.json --json full                         | full
compare run.json run.json -- x                                | --
compare glibc nobody                                          | nobody
compare glibc Jemalloc                                        | did you mean jemalloc?
compare glibc jemalloc --explain 99                           | 1 to 8
compare glibc jemalloc --explain nope                         | nope
compare glibc jemalloc --explain 1 --explain 9                | --explain 9
compare glibc jemalloc --explain calloc_loop/1/0/main         | --explain
compare glibc jemalloc --size 4KiB --explain 3                | 1 to 2
compare glibc jemalloc --rounds 1                             | --rounds
compare glibc jemalloc --processes 1                          | --rounds
compare glibc jemalloc --rounds 16 --processes 16             | --rounds
compare glibc jemalloc --rounds 0x10                          | 0x10
compare glibc jemalloc --rounds 201                           | 200
compare glibc jemalloc --self-test 100001                     | 100000
compare glibc jemalloc --self-test -1                         | --self-test
compare glibc jemalloc --cost ''                              | calloc or total
compare glibc jemalloc --size 0                               | zero
compare glibc jemalloc --env new:LD_PRELOAD=x                 | LD_PRELOAD
compare glibc jemalloc --env other:A=b                        | 'other'
compare glibc jemalloc --csv absent/x                         | absent
compare glibc jemalloc --benchmark-json absent/x              | absent
compare libnever.so glibc --json libnever.so                  | overwrite
compare glibc m=libnever.so --csv hardlib.so                  | overwrite
crossover                                                     | A
crossover glibc                                               | B
crossover glibc nobody                                        | nobody
crossover glibc glibc                                         | twice
crossover glibc jemalloc --by bytes                           | size or touch
crossover glibc jemalloc --by Size                            | size or touch
crossover glibc jemalloc --by touhc                           | did you mean touch?
crossover glibc jemalloc --by touch --size 1MiB --from 1KiB   | --from
crossover glibc jemalloc --size 1MiB                          | --size
crossover glibc jemalloc --from 2MiB --to 1MiB                | --from
crossover glibc jemalloc --from 0                             | zero
crossover glibc jemalloc --touch 2                            | 0 to 1
crossover glibc jemalloc --touch nan                          | nan
crossover glibc jemalloc --thread x                           | main or worker
crossover glibc jemalloc --rounds 2                           | 3 to 1000
crossover glibc jemalloc --rounds 1001                        | 3 to 1000
crossover glibc jemalloc --cost totla                         | did you mean total?
crossover glibc jemalloc --grid 0                             | --grid
crossover glibc jemalloc --grid 65                            | --grid
crossover glibc jemalloc --cost none                          | calloc or total
crossover glibc jemalloc --timeout nan                        | nan
crossover glibc jemalloc --timeout 0                          | --timeout
crossover glibc jemalloc --json ''                            | --json
crossover glibc jemalloc --json full                          | full
crossover glibc m=libnever.so --json libnever.so              | overwrite
crossover glibc jemalloc --env mimalloc:A=b                   | mimalloc
crossover glibc jemalloc -- x                                 | --
report                                                        | --allocator
report --allocator ''                                         | name
report --allocator nobody                                     | nobody
report --allocator glibc --allocator jemalloc                 | --allocator
report --allocator glibc --finding nope                       | nope
report --allocator glibc --finding ''                         | --finding
report --allocator glibc --finding jemalloc-purge-storm-1MiB  | glibc-
report --allocator glibc --finding glibc-purge-storm          | glibc-
report --allocator glibc --finding glibc-purge-storm-         | glibc-
report --allocator glibc --finding glibc-bogus-1MiB           | glibc-
report --allocator glibc --severity dire                      | medium
report --allocator glibc --severity hihg                      | did you mean high?
report --allocator glibc --severity ''                        | medium
report --allocator glibc --severity High                      | did you mean high?
report --allocator glibc --size 0                             | zero
report --allocator glibc --timeout inf                        | --timeout
report --allocator glibc --out full                           | full
report --allocator glibc --out run.json                       | run.json
report --allocator glibc --out /proc/nope                     | /proc/nope
report --allocator glibc --out ''                             | --out
report --allocator glibc extra                                | extra
report --allocator glibc --env glibc:ZEROTAX_X=1              | ZEROTAX_
report --allocator glibc -- x                                 | --
advise                                                        | no command
advise --                                                     | no command
advise program                                                | 'program'
advise -- ''                                                  | ''
advise -- absent-program                                      | absent-program
advise -- ./full                                              | full
advise -- ./run.json                                          | run.json
advise --bogus -- ./program                                   | --bogus
advise --goal fast -- ./program                               | fast
advise --goal '' -- ./program                                 | --goal
advise --rounds 9 -- ./program                                | --rounds
advise --rounds 201 -- ./program                              | --rounds
advise --gaol cpu -- ./program                                | did you mean --goal?
advise --rounds 2.5 -- ./program                              | 2.5
advise --memory 0.9 -- ./program                              | --memory
advise --memory nan -- ./program                              | --memory
advise --timeout 0 -- ./program                               | --timeout
advise --timeout -1 -- ./program                              | --timeout
advise --timeout inf -- ./program                             | --timeout
advise --self-test -1 -- ./program                            | --self-test
advise --self-test 1 --markdown m -- ./program                | --markdown
advise --input absent -- ./program                            | absent
advise --input full -- ./program                              | full
advise --input pipe -- ./program                              | pipe
advise --input run.json --json run.json -- ./program          | overwrite
advise --ready true -- ./program                              | --load
advise --load true -- ./program                               | --ready
advise --ready '' --load true -- ./program                    | --ready
advise --allocator nobody -- ./program                        | nobody
advise --allocator glibc -- ./program                         | glibc
advise --allocator x=run.json -- ./program                    | run.json
advise --allocator jemalloc --allocator jemalloc -- ./program | twice
advise --settings-only --allocator jemalloc -- ./program       | --settings-only
advise --env A=b -- ./program                                 | A=b
advise --env nobody:A=b -- ./program                          | nobody
advise --env glibc:LD_PRELOAD=x -- ./program                  | LD_PRELOAD
advise --env glibc:ZEROTAX_X=x -- ./program                   | ZEROTAX_X
advise --env glibc:A=b --env glibc:A=b -- ./program           | twice
advise --json full -- ./program                               | full
advise --json '' -- ./program                                 | --json
advise --json ./program -- ./program                          | overwrite
advise --json a --markdown ./a -- ./program                   | both write
advise -- /bin/false                                          | exit status 1
record                                                        | no command
record --                                                     | no command
record program                                                | 'program'
record -- ''                                                  | ''
record -- absent-program                                      | absent-program
record -- ./absent                                            | absent
record -- ./full                                              | full
record -- ./run.json                                          | run.json
record -- pipe                                                | pipe
record --weight heavy -- ./program                            | heavy
record --weight retruned -- ./program                         | did you mean returned?
record --weight '' -- ./program                               | redundant
record --allocator nobody -- ./program                        | nobody
record --env glibc:A=b -- ./program                           | --allocator
record --allocator glibc --env glibc:LD_PRELOAD=x -- ./program | LD_PRELOAD
record --json full -- ./program                               | full
record --json '' -- ./program                                 | --json
record --json ./program -- ./program                          | overwrite
record --text program -- ./full/../program                    | overwrite
record --json a --text a -- ./program                         | both write
record --json a --out a -- ./program                          | both write
record --json a --folded ./a -- ./program                     | both write
record --svg a --folded a -- ./program                        | both write
record --json - --folded - -- ./program                       | both write
record --json run.json --svg link.json -- ./program           | both write
record --json run.json --svg hard.json -- ./program           | both write
record --allocator m=libnever.so --json libnever.so -- ./program | overwrite
record --bogus -- ./program                                   | --bogus
profile --                                                    | no command
profile -- ''                                                 | ''
profile -- absent-program                                     | absent-program
profile --size 1MiB -- ./program                              | --size
profile --case calloc_loop -- ./program                       | --case
profile --allocator nobody                                    | nobody
profile --case bogus                                          | 'bogus'
profile --size 0                                              | zero
profile --touch 2                                             | 0 to 1
profile --touch nan                                           | nan
profile --thread x                                            | main or worker
profile --seconds 0                                           | --seconds
profile --seconds nan                                         | --seconds
profile --seconds inf                                         | --seconds
profile --seconds -1                                          | --seconds
profile --seconds 3601                                        | 3600
profile --hz 0                                                | --hz
profile --hz 20001                                            | 20000
profile --hz -1                                               | --hz
profile --hz 1.5                                              | 1.5
profile --hz 4294967396                                       | --hz
profile --least 101                                           | 0 to 100
profile --least nan                                           | nan
profile --least -1                                            | --least
profile --text full                                           | full
profile --folded ''                                           | --folded
profile --json a --folded a                                   | both write
profile --text a --svg ./a                                    | both write
profile --json - --folded -                                   | both write
profile --pid 0                                               | invalid PID 0
profile --pid 1                                               | PID 1
profile --pid x                                               | x
profile --pid 4194311                                         | no process
profile --pid 4194311 --size 1MiB                             | --size
profile --pid 4194311 -- ./program                            | both
profile --seconds 1 -- ./program                              | --seconds
profile --json program -- ./program                           | overwrite
profile extra                                                 | extra
cow                                                           | --pid
cow --read absent                                             | absent
cow --read run.json --pid 1                                   | --pid
cow --read run.json -- ./program                              | command
cow --read run.json --stacks                                  | --stacks
cow --stacks                                                  | neither
cow --stacks=maybe -- ./program                               | maybe
cow --stacks extra -- ./program                               | extra
cow --                                                        | no command
cow -- ''                                                     | ''
cow -- absent-program                                         | absent-program
cow --pid 0                                                   | 0
cow --pid -1                                                  | -1
cow --pid 999999999                                           | 999999999
cow --pid 99999999999                                         | --pid
cow --pid 0x1                                                 | 0x1
cow --pid self                                                | self
cow --pid ''                                                  | --pid
cow --pid 1 --pid 1                                           | --pid
cow --pid 1 -- ./program                                      | --pid
cow --interval 0 -- ./program                                 | --interval
cow --interval nan -- ./program                               | --interval
cow --interval inf -- ./program                               | --interval
cow --interval -1 -- ./program                                | --interval
cow --interval 0x1 -- ./program                               | 0x1
cow --interval 3601 -- ./program                              | 3600
cow --buffer 1KiB -- ./program                                | --buffer
cow --buffer 5000 -- ./program                                | power of two
cow --buffer 2GiB -- ./program                                | 1GiB
cow --buffer '' -- ./program                                  | --buffer
cow --buffer 1XB -- ./program                                 | XB
cow --comm '' -- ./program                                    | --comm
cow --first-child --comm x -- ./program                       | --comm
cow --first-child=perhaps -- ./program                        | perhaps
cow --json full -- ./program                                  | full
cow --faults full -- ./program                                | full
cow --faults absent/x -- ./program                            | absent
cow --json a --faults a -- ./program                          | both write
cow --json a --faults ./a -- ./program                        | both write
cow --json a --svg full/../a -- ./program                     | both write
cow --json - --faults - -- ./program                          | both write
cow --faults program -- ./program                             | overwrite
fork extra                                                    | extra
fork --read absent                                            | absent
fork --read run.json                                          | zerotax.run/1
fork --read run.json --json run.json                          | overwrite
fork --to 0                                                   | zero
fork --to 1KiB                                                | 1MiB
fork --to 2000GiB                                             | 1024GiB
fork --to ''                                                  | number
fork --rounds 0                                               | --rounds
fork --rounds -1                                              | --rounds
fork --rounds 1001                                            | 1000
fork --rounds 2.5                                             | 2.5
fork --rounds 99999999999                                     | --rounds
fork --seconds nan                                            | nan
fork --seconds inf                                            | --seconds
fork --seconds -1                                             | --seconds
fork --seconds 1h                                             | 1h
fork --json full                                              | full
fork --json ''                                                | --json
fork --to 1MiB --most 2MiB                                    | --to
fork -- ./program                                             | --
snapshot extra                                                | extra
snapshot --read absent                                        | absent
snapshot --read run.json --svg run.json                       | overwrite
snapshot --hold nan                                           | nan
snapshot --hold -nan                                          | nan
snapshot --hold inf                                           | --hold
snapshot --hold -0.5                                          | --hold
snapshot --hold 1.5                                           | --hold
snapshot --hold 0x1                                           | 0x1
snapshot --hold half                                          | half
snapshot --hold ''                                            | --hold
snapshot --size 0                                             | zero
snapshot --size 5000                                          | pages
snapshot --size 100000GiB                                     | --size
snapshot --size ''                                            | number
snapshot --batch 0                                            | zero
snapshot --batch 1000                                         | pages
snapshot --size 1MiB --batch 2MiB                             | --batch
snapshot --writers 0                                          | --writers
snapshot --writers -1                                         | --writers
snapshot --writers 257                                        | 256
snapshot --writers 4294967297                                 | --writers
snapshot --checkpointers 0                                    | --checkpointers
snapshot --passes 0                                           | --passes
snapshot --passes 1001                                        | 1000
snapshot --rounds 0                                           | --rounds
snapshot --rounds 1001                                        | --rounds
snapshot --rounds 010                                         | 010
snapshot --alternative bogus                                  | bogus
snapshot --alternative Fork                                   | did you mean fork?
snapshot --alternative ''                                     | choose:
snapshot --allocator nobody                                   | nobody
snapshot --timeout 0                                          | --timeout
snapshot --json full                                          | full
snapshot --json a --svg a                                     | both write
snapshot --json a --svg ./a                                   | both write
snapshot --allocator m=libnever.so --svg libnever.so          | overwrite
snapshot --remedies=maybe                                     | --remedies
snapshot --remedies --alternative bogus                       | bogus
snapshot --remedies --hold 2                                  | --hold
snapshot --remedies --read absent                             | absent
snapshot --published=maybe                                    | --published
snapshot --published --writers 0                              | --writers
snapshot --published --checkpointers 257                      | 256
snapshot --published --size 100000GiB                         | --size
snapshot --alternative publshed                               | did you mean published?
snapshot --sweep ''                                           | --sweep
snapshot --sweep writers                                      | has no values
snapshot --sweep colour=1                                     | colour
snapshot --sweep writer=1                                     | did you mean writers?
snapshot --sweep writers=                                     | ''
snapshot --sweep writers=1,,2                                 | ''
snapshot --sweep writers=0                                    | '0'
snapshot --sweep writers=257                                  | 256
snapshot --sweep writers=-1                                   | '-1'
snapshot --sweep checkpointers=01                             | '01'
snapshot --sweep writers=1 --sweep writers=2                  | twice
snapshot --sweep usual --sweep writers=1                      | alone
snapshot --sweep size=5000                                    | pages
snapshot --sweep size=0                                       | zero
snapshot --sweep size=1MiB,                                   | number
snapshot --sweep batch=2MiB --size 1MiB                       | --batch
snapshot --sweep size=100000GiB                               | --size
snapshot --sweep usual --read absent                          | --read
snapshot --sweep usual --svg x.svg                            | --svg
snapshot --sweep usual --remedies                             | --remedies
snapshot --sweep usual --published                            | --published
snapshot --sweep usual --alternative bogus                    | bogus
snapshot --sweep usual --json full                            | full
snapshot --plot=maybe                                         | --plot
snapshot --sweep placement=near                               | near
snapshot --sweep placement=                                   | placement
snapshot -- ./program                                         | --
clients extra                                                 | extra
clients --client bogus                                        | bogus
clients --client cffi_1_99                                    | did you mean cffi_1_9?
clients --client ''                                           | ''
clients --allocator nobody                                    | nobody
clients --size 0                                              | zero
clients --size 1XB                                            | XB
clients --timeout nan                                         | nan
clients --json full                                           | full
clients --json ''                                             | --json
clients --allocator m=libnever.so --json libnever.so          | overwrite
clients -- x                                                  | --
trace                                                         | verb
trace bogus                                                   | bogus
trace pritn                                                   | did you mean print?
trace list trace --jsno x                                     | did you mean --json?
trace Run                                                     | Run
trace ''                                                      | verb
trace run                                                     | no command
trace run --                                                  | no command
trace run -- ''                                               | ''
trace run -- absent-program                                   | absent-program
trace run -o full -- ./program                                | full
trace run -o trace -- ./program                               | trace
trace run -o run.json -- ./program                            | run.json
trace run -o '' -- ./program                                  | --out
trace run -o /proc/nope -- ./program                          | /proc/nope
trace run -o new --json program -- ./program                  | overwrite
trace run -o new --json a --perfetto a -- ./program           | both write
trace run --kernel=absent -- ./program                        | absent
trace run --kernel=faults,,switches -- ./program              | names no event
trace run --kernel=no/way:x -- ./program                      | no/way
trace run --kernel=sched:absent_event -- ./program            | absent_event
trace events absent_event                                     | absent_event
trace events x y                                              | y
trace events -- x                                             | --
trace summary trace --key pid                                 | --begin
trace summary trace --svg x.svg                               | --begin
trace summary trace --begin x --end y --key =                 | --key
trace summary trace --begin x --end y --key ''                | --key
trace list                                                    | no trace
trace list ''                                                 | folder
trace list absent                                             | absent
trace list full                                               | full
trace list run.json                                           | run.json
trace list pipe                                               | pipe
trace list loop                                               | loop
trace list trace -- x                                         | --
trace list trace --kernel                                     | --kernel
trace list trace extra                                        | extra
trace print absent                                            | absent
trace print trace --pid 0                                     | --pid
trace print trace --pid -1                                    | --pid
trace print trace --pid 0x1                                   | 0x1
trace print trace --tid x                                     | --tid
trace print trace --event ''                                  | --event
trace print trace --perfetto full                             | full
trace print trace --perfetto absent/x                         | absent
trace summary trace --begin x                                 | --end
trace summary trace --from x                                  | --end
trace summary trace --end x                                   | --begin
trace summary trace --begin '' --end x                        | --begin
trace summary trace --json full                               | full
trace summary trace --json a --perfetto ./a                   | both write
trace summary trace --json - --perfetto -                     | both write
trace summary trace --json trace/process/metadata             | overwrite
trace functions absent                                        | absent
trace functions trace --json trace/process/stream-0           | overwrite
trace functions trace --filter ''                             | --filter
trace functions trace -F                                      | --filter
trace functions trace --not ''                                | --not
trace functions trace --object ''                             | --object
trace functions trace --not-object ''                         | --not-object
trace functions trace --not-objet x                           | did you mean --not-object?
trace functions trace --depth 0                               | --depth
trace functions trace --depth x                               | x
trace functions trace --depth 3                               | --tree
trace functions trace --tree yes                              | yes
trace functions --diff                                        | --diff
trace functions --diff trace                                  | no trace
trace functions --diff absent trace                           | absent
trace functions --diff '' trace                               | --diff
trace functions --diff full trace                             | full
trace functions --diff trace trace trace                      | trace
trace functions --diff trace trace --tree                     | --tree
trace functions --diff trace trace --perfetto x               | --perfetto
trace functions --diff trace trace --json trace/process/metadata| overwrite
trace run --until '' -- ./program                             | --until
trace run --until x-y -o new -- ./program                     | x-y
trace run --until kernel_exec -o new -- ./program             | kernel_exec
trace run --until x --kernel -o new -- ./program              | --kernel
trace run --until '5 faults' -o new -- ./program              | 100 faults in 10ms
trace run --until '0 faults in 1ms' -o new -- ./program       | 0 faults
trace run --until '-1 faults in 1ms' -o new -- ./program      | -1 faults
trace run --until '5 faults in 1h' -o new -- ./program        | 1h
trace run --until '5 faults in 0ms' -o new -- ./program       | 0ms
trace run --until '5 faults in 1ms x' -o new -- ./program     | 1ms x
trace run --until '5 forks in 1ms' -o new -- ./program        | forks
trace start                                                   | --pid
trace start --pid                                             | --pid
trace start --pid 0                                           | --pid
trace start --pid -1                                          | --pid
trace start --pid x                                           | x
trace start --pid 99999999                                    | 99999999
trace start --pid 1 --out ''                                  | --out
trace start --pid 1 -o run.json                               | run.json
trace start --pid 1 --buffer ''                               | --buffer
trace start --pid 1 --buffer 1KiB                             | 64KiB to 4GiB
trace start --pid 1 --buffer 5GiB                             | 64KiB to 4GiB
trace start --pid 1 --buffer 16M                              | did you mean 16MiB or 16MB?
trace start --pid 1 --mode lots                               | choose lost or overwrite
trace start --pid 1 --drain no                                | choose
trace start --pid 1 --clock hpet                              | choose
trace start --pid 1 --event ''                                | --event
trace start --pid 1 --event 'a b'                             | a b
trace start --pid 1 --event a,b                               | a,b
trace start --pid 1 --not-event '!x'                          | !x
trace start --pid 1 --until x.y                               | x.y
trace start --pid 1 --until kernel_fork                       | kernel_fork
trace start --pid 1 --control ''                              | --control
trace start --pid 1 --control full                            | no recorder
trace start --pid 1 -- x                                      | --
trace start --pid 1 extra                                     | extra
trace stop                                                    | --pid
trace stop --pid 0                                            | --pid
trace stop --pid 1 -o x                                       | -o
trace stop --pid 1 --json full                                | full
trace stop --pid 1 --control full                             | no recorder
trace status                                                  | --pid
trace status --pid 99999999                                   | 99999999
trace status --pid 1 --control absent                         | no recorder
trace status --pid 1 --buffer 1MiB                            | --buffer
trace status --pid 1 --json a --json b                        | --json
trace repair                                                  | no trace
trace repair absent                                           | absent
trace repair full                                             | full
trace repair run.json                                         | run.json
trace repair trace extra                                      | extra
trace repair trace -- x                                       | --
doctor extra                                                  | extra
doctor --json ''                                              | --json
doctor --json full                                            | full
doctor --json absent/x                                        | absent
doctor --json a --json b                                      | --json
doctor -- x                                                   | --
list extra                                                    | extra
list --json x                                                 | --json
list -- x                                                     | --
help extra                                                    | extra
help sizs                                                     | did you mean sizes?
help run extra                                                | extra
help trace pritn                                              | did you mean print?
help sizes --man -                                            | --man
help sizes -- x                                               | --
help ''                                                       | unknown topic
help --man ''                                                 | --man
help --man full                                               | full
help --man absent/x                                           | absent
"""

# What no shell line shows well.
MORE = [
    (["run", "--allocator", "a\nb=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a\tb=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a\x1b[31m=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a\x7f=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a" * 5000 + "=libnever.so", "--size", "1MiB"], "100 characters"),
    (["run", "--allocator", "a" * 101 + "=libnever.so", "--size", "1MiB"], "100 characters"),
    (["run", "--allocator", b"a\xff=libnever.so", "--size", "1MiB"], "UTF-8"),
    (["run", "--allocator", "m=" + "x" * 5000, "--size", "1MiB"], "library"),
    (["run", "--allocator", "m=new\nline.so", "--size", "1MiB"], "library"),
    (["run", "--allocator", "glibc", "--size", "9" * 5000], "number"),
    (["run", "--allocator", "glibc", "--size", "1MiB\n"], "unit"),
    (["run", "--allocator", "glibc", "--size", "x" * 5000], "number"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--case", "a\nb"], "unknown case"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--json", "x" * 5000], "cannot write"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--out", "x" * 5000], "folder"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--env", "glibc:A\nB=1"], "variable"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--ops", "1\n"], "--ops"),
    (["run", "--resume", "x" * 5000], "cannot read"),
    (["findings", "x" * 5000], "cannot read"),
    (["findings", "new\nline"], "cannot read"),
    (["check", "--allocator", "glibc", "--baseline", "x" * 5000], "cannot read"),
    (["compare", "run.json", "run.json", "--explain", "\n"], "--explain"),
    (["x" * 5000], "unknown command"),
    (["new\nline"], "unknown command"),
    (["run", "--" + "x" * 5000], "--help"),
    (["run", "--new\nline"], "--help"),
    (["record", "--", "x" * 5000], "no command"),
    (["record", "--weight", "new\nline", "--", "./program"], "redundant"),
    (["trace", "list", "x" * 5000], "folder"),
]


def lines():
    rows = [row.rsplit("|", 1) for row in TABLE.strip().splitlines()]
    return [(shlex.split(command), word.strip()) for command, word in rows] + MORE


LINES = lines()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    quick = ["run", "--allocator", "glibc", "--size", "64KiB", "--ops", 2]
    for output in (["--out", "results"], ["--json", "run.json"]):
        done = zerotax(*quick, *output, cwd=folder)
        assert done.returncode == 0, done.stderr
    shutil.copy(SOURCE / "tests" / "regression" / "baselines" / "glibc-2.36.json", folder / "baseline.json")
    shutil.copy(PLANTED / "libplanted_never.so", folder / "libnever.so")
    shutil.copy("/bin/true", folder / "program")
    for name in ("full", "empty", "trace/process"):
        (folder / name).mkdir(parents=True)
    (folder / "full" / "mine.txt").write_text("mine")
    for name in ("metadata", "stream-0"):
        (folder / "trace" / "process" / name).write_text("mine")
    os.mkfifo(folder / "pipe")
    for link, target in [("loop", "loop"), ("link.json", "run.json"), ("linklib.so", "libnever.so")]:
        (folder / link).symlink_to(target)
    for link, target in [("hard.json", "run.json"), ("hardlib.so", "libnever.so")]:
        os.link(folder / target, folder / link)
    return folder


@pytest.fixture(scope="module")
def refusals(workspace):
    """What became of each line, and whether all of them left the folder as it was."""
    before = contents(workspace)
    results = try_all([functools.partial(try_line, [ZEROTAX, *words], workspace) for words, _ in LINES])
    return results, before, contents(workspace)


def name_of(words):
    text = " ".join(word if isinstance(word, str) else repr(word) for word in words)
    return text[:70].encode("unicode_escape").decode() or "nothing"


@pytest.mark.parametrize("number", range(len(LINES)), ids=[f"{i}: {name_of(words)}" for i, (words, _) in enumerate(LINES)])
def test_a_line_that_makes_no_sense_is_refused_in_one_line(refusals, number):
    assert LINES[number][1] in check_refusal(refusals[0][number])


def test_the_lines_are_many_and_differ():
    assert len({tuple(map(str, words)) for words, _ in LINES}) == len(LINES) >= 300


def test_refused_lines_change_nothing(refusals):
    _, before, after = refusals
    assert after == before, sorted(set(after.items()) ^ set(before.items()))[:5]


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"], ["list"], ["help"],
                                       ["run", "--help", "--bogus"]])
def test_what_makes_sense_is_not_refused(arguments):
    assert zerotax(*arguments).returncode == 0


def test_several_outputs_may_go_where_everything_may(workspace, tmp_path):
    run = workspace / "run.json"
    assert zerotax("compare", run, run, "--json", "/dev/null", "--csv", "/dev/null", cwd=tmp_path).returncode in (0, 3)
