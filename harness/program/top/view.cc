#include "top/view.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "top/account.h"

namespace zerotax::top {
namespace {

std::string lower(std::string text) {
  for (char& each : text) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return text;
}

bool matches(const Usage& usage, const std::string& filter) {
  const auto has = [&](const std::string& text) { return lower(text).find(filter) != std::string::npos; };
  return has(usage.name) || (usage.user && has(*usage.user)) || (usage.cgroup && has(*usage.cgroup));
}

template <typename T>
void add(Measured<T>& sum, const Measured<T>& part) {
  if (sum && part) {
    *sum += *part;
  } else if (part) {
    sum = part;
  }
}

/// Adds a member to its group. Sums leave out unknown values; a sum is n/a only if the value of every member is
/// unknown.
void add(Usage& group, const Usage& member) {
  ++group.processes;
  group.minor_faults += member.minor_faults;
  group.major_faults += member.major_faults;
  group.children_faults += member.children_faults;
  add(group.refilled_at_most_bytes, member.refilled_at_most_bytes);
  group.cpu_ns += member.cpu_ns;
  group.resident_bytes += member.resident_bytes;
  group.anonymous_bytes += member.anonymous_bytes;
}

std::vector<Usage> grouped(const std::vector<Usage>& rows, By by, std::uint64_t huge,
                           const Measured<double>& fault_ns) {
  std::map<std::string, Usage> groups;
  for (const Usage& row : rows) {
    Usage& group = groups[group_name(row, by)];
    if (group.name.empty()) {
      group.name = group_name(row, by);
      group.processes = 0;
      group.refilled_at_most_bytes = NotAvailable{"the processes of the row began in this interval"};
      group.huge_bytes = NotAvailable{"counted for processes only"};
    }
    add(group, row);
  }
  std::vector<Usage> found;
  for (auto& [name, group] : groups) {
    group.zeroed_at_most_bytes = zeroed_at_most(group.all_faults(), huge);
    // The bound of each process includes all huge pages of the machine, so the sum of bounds may count a huge page more
    // than once.
    if (group.refilled_at_most_bytes) {
      *group.refilled_at_most_bytes = std::min(*group.refilled_at_most_bytes, zeroed_at_most(group.minor_faults, huge));
    }
    set_fault_cpu(group, fault_ns);
    found.push_back(std::move(group));
  }
  return found;
}

double sort_value(const Usage& row, Sort sort) {
  switch (sort) {
    case Sort::kFaults:
      return static_cast<double>(row.all_faults());
    case Sort::kZeroed:
      return static_cast<double>(row.zeroed_at_most_bytes);
    case Sort::kRefilled:
      return row.refilled_at_most_bytes ? static_cast<double>(*row.refilled_at_most_bytes) : -1;
    case Sort::kCpu:
      return static_cast<double>(row.cpu_ns);
    case Sort::kRss:
      return static_cast<double>(row.resident_bytes);
    case Sort::kPid:
      return -static_cast<double>(row.pid.value_or(0));
  }
  return 0;
}

template <typename Enum>
Enum value_of(const std::vector<std::string>& words, const std::string& word) {
  return static_cast<Enum>(std::find(words.begin(), words.end(), word) - words.begin());
}

}  // namespace

const std::vector<std::string>& by_words() {
  static const std::vector<std::string> words = all_words<By>();
  return words;
}

const std::vector<std::string>& sort_words() {
  static const std::vector<std::string> words = all_words<Sort>();
  return words;
}

By by_of(const std::string& word) { return value_of<By>(by_words(), word); }
Sort sort_of(const std::string& word) { return value_of<Sort>(sort_words(), word); }

const std::string& Users::name(uid_t uid) {
  const auto [entry, is_new] = names_.try_emplace(uid);
  if (is_new) {
    passwd user{};
    passwd* found = nullptr;
    std::array<char, 4096> text;
    const bool named = ::getpwuid_r(uid, &user, text.data(), text.size(), &found) == 0 && found != nullptr;
    entry->second = named ? std::string(user.pw_name) : fmt::format("{}", uid);
  }
  return entry->second;
}

std::string group_name(const Usage& usage, By by) {
  switch (by) {
    case By::kUser:
      return usage.user.value_or("?");
    case By::kCgroup:
      return usage.cgroup.value_or("?");
    case By::kCommand:
    case By::kProcess:
      break;
  }
  return usage.name.empty() ? "?" : usage.name;
}

void arrange(Sample& sample, const View& view, Users& users) {
  sample.by = view.by;
  sample.sort = view.sort;
  std::vector<Usage>& rows = sample.rows;
  const auto name = [&] {
    for (Usage& row : rows) row.user = users.name(row.uid);
  };
  if (!view.pids.empty()) {
    std::erase_if(rows,
                  [&](const Usage& row) { return std::count(view.pids.begin(), view.pids.end(), *row.pid) == 0; });
  }
  // If names do not decide which rows are shown, only the shown rows get user names: there may be thousands of
  // processes.
  const bool name_all = view.members || !view.filter.empty() || view.by == By::kUser;
  if (name_all) name();
  if (view.members) {
    std::erase_if(rows, [&](const Usage& row) { return group_name(row, view.members->first) != view.members->second; });
  }
  if (!view.filter.empty()) {
    const std::string filter = lower(view.filter);
    std::erase_if(rows, [&](const Usage& row) { return !matches(row, filter); });
  }
  if (view.by != By::kProcess) {
    rows = grouped(rows, view.by, sample.machine.huge_zeroed_bytes.value_or(0), sample.fault_cost_ns);
  }
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(-sort_value(rows[i], view.sort), i);
  // Rows of equal value keep their order, by PID or name, so that rows do not jump on the screen.
  std::sort(order.begin(), order.end());
  std::vector<Usage> first;
  for (std::size_t i = 0; i < std::min(order.size(), view.rows); ++i) first.push_back(std::move(rows[order[i].second]));
  sample.rows_left_out = rows.size() - first.size();
  rows = std::move(first);
  if (!name_all && view.by == By::kProcess) name();
}

}  // namespace zerotax::top
