#include "record/outside/cpu_samples.h"

#include "base/statistics.h"
#include "observe/fill.h"
#include "os/processor.h"
#include "record/kernel_part.h"
#include "record/outside/functions.h"

namespace zerotax::record {

std::optional<SampledTime> sampled_time(std::uint64_t hits, std::uint64_t trials, std::uint64_t ns) {
  if (trials == 0) return std::nullopt;
  const auto interval = binomial_interval(hits, trials);
  const auto part = [&](double share) { return static_cast<std::uint64_t>(share * as_double(ns)); };
  return SampledTime{part(as_double(hits) / as_double(trials)), {part(interval.low), part(interval.high)}};
}

bool CpuSamples::add(const PerfEvent& event, const Stack& stack) {
  ++all;
  if (!event.kernel.empty()) {
    const KernelWork work = kernel_work(stack);
    faults += work == KernelWork::kFault || work == KernelWork::kClearing ? 1 : 0;
    clearing += work == KernelWork::kClearing ? 1 : 0;
    returning += work == KernelWork::kReturning ? 1 : 0;
    return false;
  }
  ++user;
  if (stack.empty()) return false;
  Filling filling = filling_of(stack.back().function);
  if (filling == Filling::kByValue) {
    // The implementations of glibc, musl and Rust leave the byte in the register of the second argument (fill.h).
    const Fill fill = event.has_user ? fill_of_register(event.registers[kSecondArgument]) : Fill::kUnknown;
    unknown_fill += fill == Fill::kUnknown ? 1 : 0;
    filling = fill == Fill::kZeros ? Filling::kZeros : Filling::kNone;
  }
  zeros += filling == Filling::kZeros ? 1 : 0;
  return filling == Filling::kZeros;
}

}  // namespace zerotax::record
