#include "report/workload_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"

namespace zerotax::report {
namespace {

using record::EventKind;
using What = WorkloadCall::What;

/// Binary logarithm of the smallest alignment that posix_memalign(3) accepts, which is the size of a pointer.
constexpr std::uint64_t kLeastAlignment = 3;

std::uint64_t calls_in(const record::CallsProcess& process) {
  return process.mallocs + process.callocs + process.aligned + process.reallocs + process.frees;
}

/// Returns the process with the most calls, leaving out forked processes. A forked process frees blocks that its parent
/// has allocated.
std::size_t largest_process(const record::CallsAbout& about) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < about.processes.size(); ++i) {
    const record::CallsProcess& process = about.processes[i];
    if (!process.parent && calls_in(process) > calls_in(about.processes[largest])) largest = i;
  }
  return largest;
}

/// Reads the events of one process. A recording numbers blocks by age, beginning with the blocks that existed when the
/// process started.
class Reader {
 public:
  explicit Reader(const replay::CallsFile& file) : file_(file), process_(largest_process(file.about())) {}

  std::vector<WorkloadCall> read() {
    file_.for_each(process_, [&](const replay::Event& event) {
      ++event_;
      if (event.kind == EventKind::kTouched) pages_[block(event.first)] = event.ranges;
      if (replay::makes_block(event.kind)) ++count_;
    });
    count_ = 0;
    event_ = 0;
    file_.for_each(process_, [&](const replay::Event& event) {
      ++event_;
      take(event);
    });
    return std::move(calls_);
  }

 private:
  [[nodiscard]] std::uint32_t block(std::uint64_t age) const {
    if (age < count_) return static_cast<std::uint32_t>(count_ - 1 - age);
    file_.damaged(fmt::format("process {}, event {}", process_, event_),
                  "a block that the process has not allocated itself");
  }

  void make(What what, std::uint64_t bytes, std::uint64_t more) {
    const auto number = static_cast<std::uint32_t>(count_ - 1);
    calls_.push_back({what, number, bytes, more});
    const auto pages = pages_.find(number);
    if (pages == pages_.end()) return;
    std::uint64_t at = 0;
    for (const auto& [between, count] : pages->second) {
      at += between;
      calls_.push_back({What::kTouch, number, at, count});
      at += count;
    }
  }

  void take(const replay::Event& event) {
    const bool had = event.kind == EventKind::kRealloc && event.first != 0;
    const std::uint32_t before = had ? block(event.first - 1) : 0;
    if (replay::makes_block(event.kind)) ++count_;
    switch (event.kind) {
      case EventKind::kMalloc:
        return make(What::kMalloc, event.first, 0);
      case EventKind::kCalloc:
        return make(What::kCalloc, event.first, 0);
      case EventKind::kAligned:
        return make(What::kAligned, event.first, std::max(event.second, kLeastAlignment));
      case EventKind::kRealloc:
        return make(had ? What::kRealloc : What::kMalloc, event.second, before);
      case EventKind::kFree:
        calls_.push_back({What::kFree, block(event.first), 0, 0});
        return;
      default:
        return;
    }
  }

  const replay::CallsFile& file_;
  std::size_t process_;
  std::uint64_t count_ = 0;
  std::uint64_t event_ = 0;
  std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> pages_;
  std::vector<WorkloadCall> calls_;
};

const char* name_of(What what) {
  constexpr const char* kNames[] = {"MALLOC", "CALLOC", "ALIGNED", "REALLOC", "FREE", "TOUCH"};
  return kNames[static_cast<std::size_t>(what)];
}

}  // namespace

std::vector<WorkloadCall> workload_calls(const replay::CallsFile& file) { return Reader(file).read(); }

std::size_t calls_in(const std::vector<WorkloadCall>& calls) {
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call.what != What::kTouch; }));
}

std::vector<std::size_t> units_of(const std::vector<WorkloadCall>& calls) {
  std::map<std::uint32_t, std::size_t> of_block;
  std::size_t count = 0;
  std::vector<std::size_t> units;
  units.reserve(calls.size());
  for (const WorkloadCall& call : calls) {
    if (call.what == What::kRealloc) {
      const auto before = of_block.find(static_cast<std::uint32_t>(call.more));
      of_block[call.block] = before == of_block.end() ? count++ : before->second;
    } else if (of_block.count(call.block) == 0) {
      of_block[call.block] = count++;
    }
    units.push_back(of_block[call.block]);
  }
  return units;
}

std::vector<WorkloadCall> calls_of(const std::vector<WorkloadCall>& calls, const std::vector<std::size_t>& units,
                                   const std::vector<bool>& kept) {
  std::vector<WorkloadCall> some;
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!kept[units[i]]) continue;
    WorkloadCall call = calls[i];
    const auto number = [&](std::uint32_t block) {
      return numbers.try_emplace(block, static_cast<std::uint32_t>(numbers.size())).first->second;
    };
    if (call.what == What::kRealloc) call.more = number(static_cast<std::uint32_t>(call.more));
    call.block = number(call.block);
    some.push_back(call);
  }
  return some;
}

std::vector<bool> shortest(std::size_t units, std::size_t most,
                           const std::function<bool(const std::vector<bool>&)>& shows) {
  std::vector<std::size_t> left(units);
  std::iota(left.begin(), left.end(), std::size_t{0});
  const auto only = [&](const std::vector<std::size_t>& some) {
    std::vector<bool> kept(units);
    for (const std::size_t unit : some) kept[unit] = true;
    return kept;
  };
  std::size_t parts = 2;
  std::size_t asked = 0;
  const auto asks = [&](const std::vector<std::size_t>& some) { return ++asked <= most && shows(only(some)); };
  while (left.size() >= 2 && asked < most) {
    parts = std::min(parts, left.size());
    bool fewer = false;
    // Tries each part alone, and then all parts but one.
    for (const bool alone : {true, false}) {
      for (std::size_t part = 0; part < parts && !fewer; ++part) {
        const auto begin = left.begin() + static_cast<std::ptrdiff_t>(left.size() * part / parts);
        const auto end = left.begin() + static_cast<std::ptrdiff_t>(left.size() * (part + 1) / parts);
        std::vector<std::size_t> some;
        if (alone) {
          some.assign(begin, end);
        } else {
          some.assign(left.begin(), begin);
          some.insert(some.end(), end, left.end());
        }
        if (some.empty() || (alone && parts == left.size() && parts > 2) || !asks(some)) continue;
        left = std::move(some);
        parts = alone ? 2 : std::max<std::size_t>(parts - 1, 2);
        fewer = true;
      }
      if (fewer) break;
    }
    if (fewer) continue;
    if (parts >= left.size()) break;
    parts *= 2;
  }
  return only(left);
}

std::string calls_as_c(const std::vector<WorkloadCall>& calls) {
  std::string text;
  std::string line = " ";
  for (const WorkloadCall& call : calls) {
    const std::string one = fmt::format(" {{{}, {}, {}, {}}},", name_of(call.what), call.block, call.bytes, call.more);
    constexpr std::size_t kWidth = 100;
    if (line.size() + one.size() > kWidth) {
      text += line + "\n";
      line = " ";
    }
    line += one;
  }
  return text + line + "\n";
}

}  // namespace zerotax::report
