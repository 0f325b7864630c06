#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "top/process_table.h"
#include "top/result.h"

namespace zerotax::top {

/// Faults and CPU time of children that ended.
struct Counts {
  std::int64_t minor = 0;
  std::int64_t major = 0;
  std::int64_t cpu_ns = 0;

  [[nodiscard]] bool any() const { return minor != 0 || major != 0 || cpu_ns != 0; }
};

/// Turns scans of /proc into intervals. A running process contributes the difference of its counts between two scans;
/// an ended process contributes the part that no scan saw. Nothing is counted twice. Faults that belong to no known
/// process are reported as unseen.
class Account {
 public:
  /// `fault_ns` is the cost of a zero-fill fault in nanoseconds.
  explicit Account(Measured<double> fault_ns) : fault_ns_(std::move(fault_ns)) {}

  /// Returns the interval since the last scan, with its rows by PID; std::nullopt after the first scan.
  std::optional<Sample> advance(const Look& look);

 private:
  struct Known {
    Process process;
    std::uint64_t peak = 0;  ///< largest anonymous memory in any scan, in bytes
    Counts debt;             ///< counts of ended children that are still missing in this process's counts of children
  };
  using Table = std::vector<Known>;  ///< by PID
  struct Balance;
  using Balances = std::map<pid_t, Balance>;

  [[nodiscard]] std::map<pid_t, Counts> children(Table& now) const;
  static const Known* find(const Table& table, pid_t pid);
  [[nodiscard]] Balances balances(const Table& now) const;
  [[nodiscard]] const Known* before(const Process& process) const;
  [[nodiscard]] bool began(const Process& process) const;
  [[nodiscard]] Usage usage(Known& known, const Counts& children) const;
  [[nodiscard]] Machine machine(const Look& look, const std::vector<Usage>& rows) const;

  Measured<double> fault_ns_;
  bool started_ = false;
  Table known_;
  std::int64_t time_ns_ = 0;
  std::uint64_t boot_ticks_ = 0;
  VmEvents events_;
  std::optional<std::uint64_t> tasks_;
  std::optional<std::uint64_t> huge_;
  std::uint64_t huge_now_ = 0;  ///< bytes that the machine populated in huge pages in this interval
};

/// Returns an upper bound of the bytes that `minor_faults` faults zeroed. `huge` is the number of bytes that the whole
/// machine populated in the same interval in pieces larger than a page, with one fault each.
std::uint64_t zeroed_at_most(std::uint64_t minor_faults, std::uint64_t huge);

/// Sets the estimated CPU time in faults and its share of all CPU time, which is at most 1.
void set_fault_cpu(Usage& usage, const Measured<double>& fault_ns);

}  // namespace zerotax::top
