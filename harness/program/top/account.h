#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "top/process_table.h"
#include "top/result.h"

namespace zerotax::top {

/// Counts of children that ended: minor faults, major faults, CPU time.
struct Counts {
  std::int64_t minor = 0;
  std::int64_t major = 0;
  std::int64_t cpu_ns = 0;

  [[nodiscard]] bool any() const { return minor != 0 || major != 0 || cpu_ns != 0; }
};

/// Turns looks into intervals: differences of what lives, and, of what ended, that part which nobody had seen. Nothing
/// is counted twice, and what cannot be attributed stays in the unseen part.
class Account {
 public:
  /// `fault_ns`: what a zero-fill fault costs, in nanoseconds.
  explicit Account(Measured<double> fault_ns) : fault_ns_(std::move(fault_ns)) {}

  /// The interval since the last look, its rows by PID; nothing of the first look.
  std::optional<Sample> advance(const Look& look);

 private:
  struct Known {
    Process process;
    std::uint64_t peak = 0;  ///< the most anonymous memory that a look found, in bytes
    Counts debt;             ///< of children that had gone before their parent's count rose
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
  std::optional<std::uint64_t> huge_;
  std::uint64_t huge_now_ = 0;  ///< of this interval
};

/// The upper bound of bytes that so many minor faults zeroed; `huge`: bytes that the whole machine populated in pieces
/// larger than a page meanwhile, a fault each.
std::uint64_t zeroed_at_most(std::uint64_t minor_faults, std::uint64_t huge);

/// Sets the estimate of CPU time in faults and its share, which is never above 1.
void set_fault_cpu(Usage& usage, const Measured<double>& fault_ns);

}  // namespace zerotax::top
