#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "record/kernel_part.h"
#include "record/result.h"

namespace zerotax::record {

/// A part of the CPU time by samples, in nanoseconds, with its 95 % interval.
struct SampledTime {
  std::uint64_t ns = 0;
  std::array<std::uint64_t, 2> interval_ns{};
};

/// What samples say of a program that is recorded from outside, in place of what is measured inside.
struct OutsideTimes {
  std::optional<SampledTime> zero_fills;  ///< nothing: bytes times the cost of a fault
  Measured<SampledTime> returning;
  Count returned_bytes;
  Measured<SampledTime> stores;  ///< of zeros, without the faults in them
  std::string too_few;           ///< why there are too few samples for any time; empty: there are enough
  std::string longer;            ///< how to get more samples, as words of an order
  std::uint64_t user_ns = 0;     ///< that stores took at most, and
  std::uint64_t system_ns = 0;   ///< returning memory, where they are not sampled
};

/// The reason why some stores of zeros were not seen; empty if all were.
struct UnseenStores {
  std::string of_allocator = {};
  std::string by_hand = {};
  std::string by_program = {};
  bool attributed_wrongly = false;  ///< stores that were seen may belong to another row
};

/// What is known of a run: of all its threads, and of all its processes.
struct TaxInput {
  const Tally& sum;
  const KernelPart& kernel;
  std::uint64_t cpu_ns = 0;  ///< CPU time of the run, including the recorder's own
  UnseenStores unseen = {};
  NotRecorded not_recorded = {};  ///< its CPU time is in no share
  const OutsideTimes* outside = nullptr;
  std::vector<BesideRow> beside = {};  ///< all that is known; make_tax() marks the rows that matter
};

/// All but `timing_changed`, `kernel_unknown_processes` and the advice about the cause `advice_about`. Stores are timed
/// by the clock of their thread, less the faults in them, which are the kernel's. A least and a most that differ by
/// less than a fiftieth, or 1 % of the CPU time, become one number.
Tax make_tax(const TaxInput& input, const FaultCost& cost);

/// Adds a row for each cause. Cuts the rows that are estimates to the CPU time that the program has left.
void add_rows(Tax& tax, const TaxInput& input);

/// Of the program's CPU time.
double share_of_cpu(const Tax& tax, std::uint64_t ns);

/// Says after `before`, a clause, what other page faults may cost and how to tell them apart.
std::string other_faults_words(const std::string& before, const Tax& tax);

/// Whether zeroing costs so much of a program's CPU time that remedies are worth trying.
bool is_worth_advice(const Tax& tax);

/// What zeroing cost the run and who caused it: 80 columns.
std::string tax_text(const Tax& tax);

/// What programs used that recorded nothing: "with 5,100 minor faults and 12 ms of CPU time".
std::string used_text(const Count& minor_faults, const Count& cpu_ns);

/// How the memory that was returned went back; empty if none did.
std::string returned_text(const Returned& returned);

/// One line if the recorder took more than a tenth of the run's CPU time, else empty.
std::string recorder_cost_text(const Tax& tax);

}  // namespace zerotax::record
