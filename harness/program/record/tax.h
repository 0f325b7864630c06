#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/table.h"
#include "record/kernel_part.h"
#include "record/result.h"

namespace zerotax::record {

/// A sampled part of the CPU time, in nanoseconds, with its 95 % interval.
struct SampledTime {
  std::uint64_t ns = 0;
  std::array<std::uint64_t, 2> interval_ns{};
};

/// Times from samples of a program that is recorded from outside, in place of times that are measured inside a program.
struct OutsideTimes {
  std::optional<SampledTime> zero_fills;  ///< time of zero-fill faults; nothing if the cost is estimated as bytes times
                                          ///< the cost of a fault
  Measured<SampledTime> returning;
  Count returned_bytes;
  Measured<SampledTime> stores;      ///< time in stores of zeros, without their faults
  std::string too_few;               ///< why there are too few samples for any time; empty if there are enough
  std::string longer;                ///< how to get more samples, as a clause in the imperative
  std::uint64_t longer_seconds = 0;  ///< seconds to watch for more samples; 0 for a program that was started
  std::uint64_t user_ns = 0;         ///< upper bound of the time of stores, if they are not sampled
  std::uint64_t system_ns = 0;       ///< upper bound of the time of returning memory, if it is not sampled
};

/// Reasons why some stores of zeros were not seen; empty if all were seen.
struct UnseenStores {
  std::string of_allocator = {};
  std::string by_hand = {};
  std::string by_program = {};
  bool attributed_wrongly = false;  ///< whether stores that were seen may belong to another row
};

/// The data of a run that make_tax() needs, for all threads and processes together.
struct TaxInput {
  const Tally& sum;
  const KernelPart& kernel;
  std::uint64_t cpu_ns = 0;  ///< CPU time of the run, including the recorder's own
  UnseenStores unseen = {};
  NotRecorded not_recorded = {};  ///< programs whose CPU time no share includes
  const OutsideTimes* outside = nullptr;
  std::vector<BesideRow> beside = {};  ///< all known costs beside zeroing; make_tax() marks the rows that matter
};

/// Computes every field of Tax except `timing_changed`, `kernel_unknown_processes` and the advice on the cause
/// `advice_about`. Stores are timed by their threads' CPU clocks. The time of faults in stores is subtracted, because
/// it is in the kernel's rows. Bounds that differ by less than a fiftieth, or by less than 1 % of the CPU time, become
/// one number.
Tax make_tax(const TaxInput& input, const FaultCost& cost);

/// Adds a row for each cause. Limits estimated rows to the CPU time that no measured row takes.
void add_rows(Tax& tax, const TaxInput& input);

/// Returns a cause as a clause, such as "kernel zeroed memory again (refilled)".
const char* cause_text(Cause cause);

/// Returns a time as a share of the program's CPU time.
double share_of_cpu(const Tax& tax, std::uint64_t ns);

/// Appends to the clause `before` the possible cost of the other page faults, and a command that distinguishes their
/// kinds.
std::string other_faults_words(const std::string& before, const Tax& tax);

/// Whether zeroing takes enough of a program's CPU time to try remedies.
bool is_worth_advice(const Tax& tax);

/// Returns the maximum cost of a row in nanoseconds; for a sampled row, the estimate itself.
std::uint64_t cost_of(const TaxRow& row);

/// Returns the rows that may have taken 1 % of the CPU time, the most expensive first. A row is omitted if neither its
/// bytes nor its cost is known.
std::vector<const TaxRow*> costly_rows(const Tax& tax);

/// The subject of a sentence about the cost of zeroing, such as "python3" or "sh and 3 other processes".
struct Subject {
  std::string words;
  bool is_plural = false;
};

/// Returns the cost of zeroing in one sentence, with bounds if only bounds are known.
std::string tax_headline(const Subject& subject, const Tax& tax);

/// Returns remarks on how to read the headline and the shares, the most important first.
std::vector<std::string> tax_warnings(const Tax& tax);

/// Returns the table of costly rows, and of other page faults that may cost as much.
Table cause_table(const Tax& tax);

/// Returns a sentence on the meaning of ~ beside a time that was not sampled. Empty if there is no such time.
std::string estimate_words(const Tax& tax);

/// Returns all that is known about the cost of zeroing and its causes, in 80 columns.
std::string tax_text(const Tax& tax);

/// Returns the resources that programs without a recording used, as in "with 5,100 minor faults and 12 ms of CPU time".
std::string used_text(const Count& minor_faults, const Count& cpu_ns);

/// Returns the table of returned memory, or an empty string if no memory was returned.
std::string returned_text(const Returned& returned);

}  // namespace zerotax::record
