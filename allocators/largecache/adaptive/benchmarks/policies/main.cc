// Measures the cost of zeroing under each policy of largecache and under every other allocator: calloc + touch + free,
// by size and share of pages touched. The contenders are interleaved. Further tables vary which pages are touched,
// alternate between sizes, and use threads. The last table shows the memory that each contender keeps.
//
// `adaptive` should take at most 1.05 times as long as the cheapest other contender. For blocks of 20 MiB or more of
// which less than 10 % is touched, `adaptive` should take at most a tenth of the cheapest other allocator's time.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/error.h"
#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "files/document.h"
#include "files/output_file.h"
#include "grid.h"
#include "os/environment.h"
#include "os/memory.h"
#include "run/interrupt.h"
#include "run/progress.h"

namespace {

using namespace zerotax;

constexpr std::uint64_t kMostAudited = 100 * kMiB;

struct Group {
  std::string heading;
  std::vector<Cell> cells;
  bool audited = false;
};

struct Effort {
  int rounds = 4;
  int again = 8;  ///< number of rounds with only `adaptive` and its rivals
  int budget_ms = 80;
};

Cell cell_of(std::vector<std::uint64_t> sizes, double fraction, const char* pattern, int threads, int budget_ms) {
  Cell cell;
  cell.words = {std::move(sizes), fraction, pattern, threads, budget_ms, 0};
  return cell;
}

std::vector<Group> all_groups(const Effort& effort) {
  const std::vector<std::uint64_t> sizes = {256 * kKiB, kMiB, 4 * kMiB, 20 * kMiB, 100 * kMiB, 1000 * kMiB};
  std::vector<Group> groups;
  Group grid{"the first pages touched", {}, true};
  for (const std::uint64_t size : sizes) {
    for (const double fraction : {0.0, 0.001, 0.01, 0.1, 0.5, 1.0}) {
      grid.cells.push_back(cell_of({size}, fraction, "contiguous", 1, effort.budget_ms));
    }
  }
  groups.push_back(std::move(grid));
  for (const char* pattern : {"scattered", "random"}) {
    Group group{pattern == std::string("scattered") ? "the same pages each time, far apart" : "other pages each time",
                {},
                false};
    for (const std::uint64_t size : {kMiB, 20 * kMiB, 100 * kMiB}) {
      for (const double fraction : {0.001, 0.01, 0.1, 0.5}) {
        group.cells.push_back(cell_of({size}, fraction, pattern, 1, effort.budget_ms));
      }
    }
    groups.push_back(std::move(group));
  }
  Group turns{"sizes take turns", {}, false};
  Group threads{"several threads, each with blocks of its own", {}, false};
  for (const double fraction : {0.0, 0.01, 0.5}) {
    turns.cells.push_back(cell_of({100 * kMiB, 60 * kMiB, 20 * kMiB}, fraction, "contiguous", 1, effort.budget_ms));
    turns.cells.push_back(cell_of({kMiB, 256 * kKiB}, fraction, "contiguous", 1, effort.budget_ms));
    for (const int count : {2, 4, 8}) {
      threads.cells.push_back(cell_of({20 * kMiB}, fraction, "contiguous", count, effort.budget_ms));
    }
  }
  groups.push_back(std::move(turns));
  groups.push_back(std::move(threads));
  return groups;
}

// Returns a random order of contenders, because each contender influences the time of the next.
std::vector<std::size_t> shuffled(std::size_t count, std::mt19937& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

void measure(Group& group, const std::vector<Contender>& contenders, int rounds, Progress& progress) {
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    for (Cell& cell : group.cells) {
      for (const std::size_t who : shuffled(contenders.size() + 1, random)) {
        if (interrupted() != 0) break;
        const bool is_limit = who == contenders.size();
        if (is_limit && (cell.words.threads > 1 || cell.words.sizes.size() > 1)) continue;
        const std::string name = is_limit ? "limit" : contenders[who].name;
        // A contender that failed once is not run again, because it would fail again.
        if (round > 0 && cell.figures[name].empty()) continue;
        progress.show(fmt::format("{} {} {}", name, format_size(cell.words.sizes.front()), cell.words.fraction));
        const auto figures = run_loop(is_limit ? nullptr : &contenders[who], cell.words);
        if (figures) {
          cell.figures[name].push_back(*figures);
        } else {
          cell.figures[name].clear();
        }
      }
      progress.advance(1);
    }
  }
}

void measure_again(Group& group, const std::vector<Contender>& contenders, int rounds, Progress& progress) {
  std::mt19937 random(2);
  for (Cell& cell : group.cells) {
    std::vector<std::string> names = rivals_of(cell, contenders);
    names.emplace_back("adaptive");
    for (int round = 0; round < rounds; ++round) {
      for (const std::size_t who : shuffled(names.size(), random)) {
        if (interrupted() != 0) return;
        progress.show(
            fmt::format("{} {} {}, again", names[who], format_size(cell.words.sizes.front()), cell.words.fraction));
        const auto contender = std::ranges::find(contenders, names[who], &Contender::name);
        if (const auto figures = run_loop(&*contender, cell.words)) cell.again[names[who]].push_back(*figures);
      }
    }
    progress.advance(1);
  }
}

void audit(Group& group, const std::vector<Contender>& contenders, Progress& progress) {
  for (Cell& cell : group.cells) {
    if (cell.words.sizes.front() > kMostAudited) continue;
    for (const Contender& contender : contenders) {
      if (interrupted() != 0) return;
      progress.show(fmt::format("bytes of {} {}", contender.name, format_size(cell.words.sizes.front())));
      cell.zeroed[contender.name] = zeroed_bytes(contender, cell.words.sizes.front(), cell.words.fraction);
    }
    progress.advance(1);
  }
}

// Measures resident memory with 100 MiB of touched blocks: the peak, and the level two seconds after the last free.
Json measure_memory(const std::vector<Contender>& contenders) {
  constexpr int kIdleMs = 2000;
  Json rows = Json::array();
  fmt::print("memory: 100 MiB, all touched\n{:>14} {:>14} {:>16}\n", "", "peak, MiB", "after 2 s, MiB");
  for (const Contender& contender : contenders) {
    if (interrupted() != 0) break;
    const auto figures = run_loop(&contender, {{100 * kMiB}, 1.0, "contiguous", 1, 100, kIdleMs});
    if (!figures) continue;
    rows.push_back(
        {{"contender", contender.name}, {"peak_bytes", figures->peak_bytes}, {"idle_bytes", figures->idle_bytes}});
    fmt::print("{:>14} {:>14.1f} {:>16.1f}\n", contender.name, figures->peak_bytes / static_cast<double>(kMiB),
               figures->idle_bytes / static_cast<double>(kMiB));
  }
  return rows;
}

int count_broken(const std::vector<Group>& groups, const std::vector<Contender>& contenders) {
  int cells = 0;
  int broken = 0;
  fmt::print("\ncells where a promise is not kept\n");
  for (const Group& group : groups) {
    for (const Cell& cell : group.cells) {
      const Verdict verdict = judge(cell, contenders);
      ++cells;
      const bool tenth_broken = verdict.ten_times_promised && !verdict.ten_times_kept;
      if (verdict.near_kept && !tenth_broken) continue;
      ++broken;
      fmt::print("  {} {} {:g} % x{}: ", group.heading, format_size(cell.words.sizes.front()),
                 cell.words.fraction * 100, cell.words.threads);
      if (!verdict.near_kept) fmt::print("{:.2f} times {}; ", verdict.to_best_other, verdict.best_other);
      if (tenth_broken) fmt::print("{:.3f} of {}", verdict.to_best_allocator, verdict.best_allocator);
      fmt::print("\n");
    }
  }
  fmt::print("{} of {} cells\n", broken, cells);
  return broken;
}

int run(bool smoke, const std::string& file) {
  const Effort effort = smoke ? Effort{1, 1, 5} : Effort{};
  std::vector<Contender> contenders = all_contenders();
  std::vector<Group> groups = all_groups(effort);
  if (smoke) {
    std::erase_if(groups, [](const Group& group) { return !group.audited; });
    std::erase_if(groups[0].cells, [](const Cell& cell) {
      return cell.words.sizes.front() != kMiB || (cell.words.fraction != 0 && cell.words.fraction != 0.1);
    });
  } else {
    warm_up_memory(2 * kGiB, nullptr);
  }
  std::size_t steps = 0;
  for (const Group& group : groups)
    steps += group.cells.size() * static_cast<std::size_t>(effort.rounds + 1 + group.audited);
  Progress progress("policies", steps, static_cast<double>(steps));
  Json json{{"schema", "zerotax.policies/1"}, {"environment", describe_environment()}, {"groups", Json::array()}};
  for (Group& group : groups) {
    measure(group, contenders, effort.rounds, progress);
    measure_again(group, contenders, effort.again, progress);
    if (group.audited) audit(group, contenders, progress);
    if (interrupted() != 0) return 128 + interrupted();
    progress.clear();
    fmt::print("{}\n", cells_text(group.heading + ": microseconds per calloc + touch + free", group.cells, contenders));
    if (group.audited) fmt::print("{}\n", causes_text(group.heading, group.cells, contenders));
    Json cells = Json::array();
    for (const Cell& cell : group.cells) cells.push_back(cell_json(cell, contenders));
    json["groups"].push_back({{"heading", group.heading}, {"cells", cells}});
  }
  json["memory"] = smoke ? Json::array() : measure_memory(contenders);
  add_verdicts(json);
  const int broken = count_broken(groups, contenders);
  if (!file.empty()) write_file(file, json_text(json));
  return !smoke && broken > 0 ? 1 : 0;
}

/// Rewrites a document of an earlier version with the conclusions of this version.
int judge_again(const std::string& read, const std::string& file) {
  if (file.empty()) throw UsageError("--read without --json", "give the file to write to with --json");
  check_outputs({{"--json", file}}, {{"--read", read}});
  Json json = read_document(read, "policies", "give a file of benchmark-policies --json");
  add_verdicts(json);
  write_file(file, json_text(json));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  std::string read;
  std::string file;
  const auto add = [&](Arguments arguments) {
    arguments.flag("--smoke", smoke, "measure two cells in one round, only to check that the benchmark works");
    arguments.option("--read", read, "measure nothing, but judge this earlier file of --json again").path();
    arguments.option("--json", file, "write all results to this file").path();
  };
  const auto start = [&] {
    catch_interrupts();
    return read.empty() ? run(smoke, file) : judge_again(read, file);
  };
  return standalone_main("benchmark-policies",
                         "Measure calloc + touch + free under every allocator and every policy of largecache", argc,
                         argv, add, start);
}
