#include "top/account.h"

#include <algorithm>

#include "base/size.h"
#include "os/page.h"

namespace zerotax::top {
namespace {

/// Faults and CPU time of the process and of its waited-for children, as of the process's last scan. After the process
/// has ended, its parent's counts rise by at least this much.
Counts of(const Process& process) {
  return {static_cast<std::int64_t>(process.minor_faults + process.children_minor_faults),
          static_cast<std::int64_t>(process.major_faults + process.children_major_faults),
          process.cpu_ns + process.children_cpu_ns};
}

Counts of_children(const Process& process) {
  return {static_cast<std::int64_t>(process.children_minor_faults),
          static_cast<std::int64_t>(process.children_major_faults), process.children_cpu_ns};
}

template <typename Action>
void for_each_field(const Action& action) {
  for (std::int64_t Counts::*field : {&Counts::minor, &Counts::major, &Counts::cpu_ns}) action(field);
}

}  // namespace

/// Rise of the counts that /proc reports for a parent's waited-for children in one interval, and the parts of the rise
/// that earlier scans had counted.
struct Account::Balance {
  Counts risen;
  Counts known;   ///< last counts of the children that ended in this interval
  Counts passed;  ///< last counts of descendants whose own parent ended too; another process may have waited for them
  Counts debt;    ///< counts of children that ended in the interval before and are still missing in the parent's counts
};

std::uint64_t zeroed_at_most(std::uint64_t minor_faults, std::uint64_t huge) {
  return minor_faults * page_bytes() + std::min(huge, minor_faults * huge_page_bytes());
}

void set_fault_cpu(Usage& usage, const Measured<double>& fault_ns) {
  if (!fault_ns) {
    usage.fault_cpu_estimated_ns = NotAvailable{fault_ns.why()};
    usage.fault_cpu_share = NotAvailable{fault_ns.why()};
    return;
  }
  const auto estimate = static_cast<std::int64_t>(static_cast<double>(usage.all_faults()) * *fault_ns);
  usage.fault_cpu_estimated_ns = std::min(estimate, usage.cpu_ns);
  usage.fault_cpu_share = known_if(
      usage.cpu_ns > 0,
      static_cast<double>(*usage.fault_cpu_estimated_ns) / static_cast<double>(std::max<std::int64_t>(usage.cpu_ns, 1)),
      "the kernel counted no CPU time for the process");
}

/// Returns nullptr if `pid` is not in the table.
const Account::Known* Account::find(const Table& table, pid_t pid) {
  const auto found = std::lower_bound(table.begin(), table.end(), pid,
                                      [](const Known& known, pid_t wanted) { return known.process.pid < wanted; });
  return found != table.end() && found->process.pid == pid ? &*found : nullptr;
}

/// Returns the same process at the last scan, or nullptr if the last scan did not find the process.
const Account::Known* Account::before(const Process& process) const {
  const Known* found = find(known_, process.pid);
  return found != nullptr && found->process.start_ticks == process.start_ticks ? found : nullptr;
}

/// Whether the process began after the last scan. If a process began earlier but the last scan did not find it, the
/// process was hidden, so its counts cover more than this interval.
bool Account::began(const Process& process) const {
  return before(process) == nullptr && process.start_ticks + 1 >= boot_ticks_;
}

Account::Balances Account::balances(const Table& now) const {
  Balances balances;
  for (const Known& known : now) {
    const Known* old = before(known.process);
    if (old == nullptr && !began(known.process)) continue;
    const Counts was = old != nullptr ? of_children(old->process) : Counts{};
    const Counts is = of_children(known.process);
    Balance balance;
    if (old != nullptr) balance.debt = old->debt;
    for_each_field([&](auto field) { balance.risen.*field = std::max<std::int64_t>(is.*field - was.*field, 0); });
    if (balance.risen.any() || balance.debt.any()) balances[known.process.pid] = balance;
  }
  const auto lives = [&](pid_t pid) {
    const Known* found = find(now, pid);
    return found != nullptr && (before(found->process) != nullptr || find(known_, pid) == nullptr);
  };
  for (const Known& known : known_) {
    if (lives(known.process.pid)) continue;
    pid_t ancestor = known.process.parent;
    bool passed = false;
    // Walks at most one step per process, because parents can form a cycle where PIDs were reused.
    for (std::size_t step = 0; step <= known_.size() && ancestor != 0 && !lives(ancestor); ++step) {
      const Known* parent = find(known_, ancestor);
      ancestor = parent == nullptr ? 0 : parent->process.parent;
      passed = true;
    }
    if (find(now, ancestor) == nullptr) continue;
    Balance& balance = balances[ancestor];
    Counts& part = passed ? balance.passed : balance.known;
    const Counts gone = of(known.process);
    for_each_field([&](auto field) { part.*field += gone.*field; });
  }
  return balances;
}

/// Returns the faults and CPU time of children that ended between scans, per process that waited for them. Sets
/// `Known::debt` in `now`.
std::map<pid_t, Counts> Account::children(Table& now) const {
  const Balances all = balances(now);
  std::map<pid_t, Counts> unseen;
  for (const auto& entry : all) {
    const Balance& balance = entry.second;
    Counts& rest = unseen[entry.first];
    for_each_field([&](auto field) {
      rest.*field = balance.risen.*field - balance.known.*field - balance.passed.*field - balance.debt.*field;
    });
  }
  const auto parent_of = [&](pid_t pid) {
    const Known* found = find(now, pid);
    return found != nullptr ? found->process.parent : 0;
  };
  for (const auto& entry : all) {
    const pid_t pid = entry.first;
    const Balance& balance = entry.second;
    Known& known = now[static_cast<std::size_t>(find(now, pid) - now.data())];
    for_each_field([&](auto field) {
      std::int64_t& rest = unseen[pid].*field;
      // If a parent ended before its child, an ancestor waits for that child.
      std::int64_t over = std::min(-rest, balance.passed.*field);
      pid_t ancestor = known.process.parent;
      for (std::size_t step = 0; step <= now.size() && over > 0 && ancestor != 0; ++step) {
        if (const auto theirs = unseen.find(ancestor); theirs != unseen.end()) {
          const std::int64_t part = std::clamp<std::int64_t>(theirs->second.*field, 0, over);
          theirs->second.*field -= part;
          over -= part;
          rest += part;
        }
        ancestor = parent_of(ancestor);
      }
      // A debt lasts one interval. A parent that never waits for its children would otherwise keep the debt forever.
      known.debt.*field = std::clamp<std::int64_t>(-rest, 0, balance.known.*field);
    });
  }
  for (auto& [pid, rest] : unseen) {
    for_each_field([&rest = rest](auto field) { rest.*field = std::max<std::int64_t>(rest.*field, 0); });
  }
  return unseen;
}

Usage Account::usage(Known& known, const Counts& children) const {
  const Process& process = known.process;
  const Known* old = before(process);
  Usage usage;
  usage.pid = process.pid;
  usage.start_ticks = process.start_ticks;
  usage.parent = process.parent;
  usage.name = process.name;
  usage.uid = process.user;
  if (!process.cgroup.empty()) usage.cgroup = process.cgroup;
  usage.resident_bytes = process.resident_bytes;
  usage.anonymous_bytes = process.anonymous_bytes;
  usage.children_faults = static_cast<std::uint64_t>(children.minor);
  usage.major_faults = static_cast<std::uint64_t>(children.major);
  known.peak = std::max(process.anonymous_bytes, old != nullptr ? old->peak : 0);
  if (old != nullptr || began(process)) {
    const Process was = old != nullptr ? old->process : Process{};
    usage.minor_faults = less(process.minor_faults, was.minor_faults);
    usage.major_faults += less(process.major_faults, was.major_faults);
    usage.cpu_ns = std::max<std::int64_t>(process.cpu_ns - was.cpu_ns, 0) + children.cpu_ns;
  }
  usage.zeroed_at_most_bytes = zeroed_at_most(usage.all_faults(), huge_now_);
  if (old != nullptr) {
    usage.refilled_at_most_bytes = less(zeroed_at_most(usage.minor_faults, huge_now_), known.peak - old->peak);
  } else {
    usage.refilled_at_most_bytes = NotAvailable{"the last scan did not find the process"};
  }
  set_fault_cpu(usage, fault_ns_);
  return usage;
}

Machine Account::machine(const Look& look, const std::vector<Usage>& rows) const {
  const auto risen = [](const std::optional<std::uint64_t>& is, const std::optional<std::uint64_t>& was,
                        std::uint64_t unit, const char* name) {
    return known_if(is && was, less(is.value_or(0), was.value_or(0)) * unit,
                    std::string(name) + " cannot be read here");
  };
  Machine machine;
  machine.faults = risen(look.machine.faults, events_.faults, 1, "pgfault of /proc/vmstat");
  machine.major_faults = risen(look.machine.major_faults, events_.major_faults, 1, "pgmajfault of /proc/vmstat");
  machine.allocated_bytes =
      risen(look.machine.allocated_pages, events_.allocated_pages, page_bytes(), "pgalloc of /proc/vmstat");
  machine.freed_bytes = risen(look.machine.freed_pages, events_.freed_pages, page_bytes(), "pgfree of /proc/vmstat");
  machine.started = risen(look.started, tasks_, 1, "processes of /proc/stat");
  machine.huge_zeroed_bytes = risen(look.huge, huge_, 1, "the huge-page counters of sysfs");
  for (const Usage& row : rows) {
    machine.seen_faults += row.minor_faults + row.major_faults;
    machine.children_faults += row.children_faults;
  }
  if (!machine.faults) {
    machine.unseen_faults = NotAvailable{machine.faults.why()};
    machine.unseen_share = NotAvailable{machine.faults.why()};
    return machine;
  }
  machine.unseen_faults = less(*machine.faults, machine.seen_faults + machine.children_faults);
  machine.unseen_share = known_if(
      *machine.faults > 0,
      static_cast<double>(*machine.unseen_faults) / static_cast<double>(std::max<std::uint64_t>(*machine.faults, 1)),
      "the machine took no fault");
  return machine;
}

std::optional<Sample> Account::advance(const Look& look) {
  Table now(look.processes.size());
  for (std::size_t i = 0; i < now.size(); ++i) now[i].process = look.processes[i];
  huge_now_ = look.huge && huge_ ? less(*look.huge, *huge_) : 0;
  const std::map<pid_t, Counts> unseen = children(now);
  Sample sample;
  std::uint64_t kept = 0;
  sample.rows.reserve(now.size());
  for (Known& known : now) {
    const auto part = unseen.find(known.process.pid);
    sample.rows.push_back(usage(known, part != unseen.end() ? part->second : Counts{}));
    kept += before(known.process) != nullptr ? 1 : 0;
  }
  sample.interval_s = static_cast<double>(look.time_ns - time_ns_) / 1e9;
  sample.fault_cost_ns = fault_ns_;
  sample.processes = now.size();
  sample.begun = now.size() - kept;
  sample.ended = known_.size() - kept;
  sample.hidden = look.hidden;
  sample.machine = machine(look, sample.rows);
  known_ = std::move(now);
  time_ns_ = look.time_ns;
  boot_ticks_ = look.boot_ticks;
  events_ = look.machine;
  tasks_ = look.started;
  huge_ = look.huge;
  return std::exchange(started_, true) ? std::optional(std::move(sample)) : std::nullopt;
}

}  // namespace zerotax::top
