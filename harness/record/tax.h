#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/kernel_part.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// A cause that takes a smaller share of the CPU time is not worth anybody's time.
inline constexpr double kNoticed = 0.01;

/// Who zeroed, or caused it: the kernel's part first, then the allocator's, then the program's.
enum class Cause { kFresh, kRefilled, kReturning, kRedundant, kNeeded, kUnexamined, kInFree, kByHand };

/// fresh, refilled, returning, redundant, needed, unexamined, in_free, by_hand: as a recording has them.
const char* cause_name(Cause cause);

/// One cause of zeroing in a run.
struct TaxRow {
  Cause cause;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> faults;
  std::uint64_t cpu_ns = 0;
  bool estimated = false;  ///< cpu_ns: bytes times what populating memory took in this run
  std::string why_not;     ///< cpu_ns is not known, and why
};

/// What zeroing cost a run. Every share has `cpu_ns` as its denominator, and the rows add up to it at most: the stores
/// are timed by the clock of their thread, less the faults in them, which are the kernel's.
struct Tax {
  std::uint64_t cpu_ns = 0;      ///< CPU time of the program, without the recorder's own
  std::uint64_t own_cpu_ns = 0;  ///< the recorder's
  bool capped = false;           ///< the estimates were more than the CPU time that was left: they are cut to it
  std::vector<TaxRow> rows;

  [[nodiscard]] std::uint64_t zeroing_ns() const;
  /// The part of it in the kernel: zero-fill faults, and returning memory.
  [[nodiscard]] std::uint64_t kernel_ns() const;
  [[nodiscard]] double share(std::uint64_t ns) const;
  /// The row that cost most; nullptr if none cost anything.
  [[nodiscard]] const TaxRow* worst() const;
  /// The object `tax` of results/schema/record.schema.json.
  [[nodiscard]] Json json() const;
};

/// `sum` of all threads, `kernel` of all processes; `cpu_ns` of the run, the recorder's own included.
Tax make_tax(const record::Tally& sum, const KernelPart& kernel, const FaultCost& cost, std::uint64_t cpu_ns);

/// What to try next, in one sentence.
std::string tax_advice(const Tax& tax, const record::Tally& sum, const std::string& allocator);

}  // namespace zerotax::record
