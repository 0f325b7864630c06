#pragma once

#include "base/json.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// munmap, madvise, brk, mremap or mmap.
const char* mechanism_name(std::size_t mechanism);

/// Sums of what threads did.
class RecordFigures {
 public:
  void add(const record::Tally& tally) { sum_.add(tally); }
  void add(const RecordFigures& other) { sum_.add(other.sum_); }

  /// The object `figures` of results/schema/record.schema.json. Small stores are neither timed nor examined: where
  /// there were no others, time and redundancy are n/a.
  [[nodiscard]] Json json() const;
  /// The histogram: a row for each power of two that was called for.
  [[nodiscard]] Json histogram() const;

  [[nodiscard]] const record::Tally& tally() const { return sum_; }
  /// CPU nanoseconds of the large stores of zeros, the program's own included, by the clocks of their threads.
  [[nodiscard]] std::uint64_t zero_cpu_ns() const;
  /// Nanoseconds of the large stores of zeros, the program's own included.
  [[nodiscard]] std::uint64_t zero_ns() const;
  /// Bytes zeroed, to sort by importance.
  [[nodiscard]] std::uint64_t zeroed_bytes() const;
  [[nodiscard]] std::uint64_t calls() const;

 private:
  [[nodiscard]] record::ZeroRow zeroed(record::ZeroKind kind) const;
  [[nodiscard]] record::CallRow called(record::CallKind kind) const;

  record::Tally sum_{};
};

}  // namespace zerotax::record
