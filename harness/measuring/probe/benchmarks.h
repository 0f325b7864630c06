#pragma once

namespace zerotax {

/// Registers every case with Google Benchmark at the sizes and touched fractions that the study asks about, as
/// "<case>/<size in bytes>/touch:<percent>". Counters: minor faults per operation and bytes per second.
void register_benchmarks();

}  // namespace zerotax
