// Measures the cost of the meter by comparing two times of calloc + free of 1 MiB on glibc. The timing pass reports one
// time. A loop that reads a clock only at both ends of the run gives the other time. Processes are paired and
// interleaved. The times may differ by at most 2 %.

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "point/point.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/probe_process.h"

namespace {

using namespace zerotax;

struct Pair {
  double bare_ns;      ///< time per operation, with a clock only at both ends
  double reported_ns;  ///< mean of calloc_ns + free_ns
  double loop_ns;      ///< time per operation of the metered loop, including the meter's work between operations
};

double per_operation(const PassResult& pass) {
  return static_cast<double>(pass.samples().run_ns) / static_cast<double>(pass.samples().run_ops);
}

double reported(const PassResult& pass) {
  double sum = 0;
  const std::size_t warm = pass.ops() / 2;
  for (std::size_t i = warm; i < pass.ops(); ++i) sum += static_cast<double>(pass.op(i).calloc_ns + pass.op(i).free_ns);
  return sum / static_cast<double>(pass.ops() - warm);
}

int run(std::uint64_t size, bool smoke) {
  const std::uint32_t ops = smoke ? 100 : 4000;
  const int rounds = smoke ? 2 : 41;
  const Allocator glibc = resolve_allocators({"glibc"}, {}).front();
  const PointSpec point{0, "calloc_loop", size, 0.0, "main", {ops, ops, 8, 8, 0}};
  std::vector<double> bare_ns;
  std::vector<double> reported_ns;
  std::vector<double> reported_ratio;
  std::vector<double> loop_ratio;
  for (int round = 0; round < rounds && interrupted() == 0; ++round) {
    // The order changes from round to round, so that a drift of the machine favors neither loop.
    const bool bare_first = round % 2 == 0;
    PassResult first = run_pass(glibc, point, bare_first ? Pass::kBare : Pass::kTiming, {});
    PassResult second = run_pass(glibc, point, bare_first ? Pass::kTiming : Pass::kBare, {});
    const PassResult& bare = bare_first ? first : second;
    const PassResult& timing = bare_first ? second : first;
    bare_ns.push_back(per_operation(bare));
    reported_ns.push_back(reported(timing));
    reported_ratio.push_back(reported_ns.back() / bare_ns.back());
    loop_ratio.push_back(per_operation(timing) / bare_ns.back());
  }
  if (interrupted() != 0) return 128 + interrupted();
  const double ratio = quantile(reported_ratio, 0.5);
  fmt::print("calloc + free of {} on glibc {}, {} pairs of processes, {} operations each\n", format_size(size),
             glibc.version, rounds, ops);
  fmt::print("  bare loop                      {:>9} an operation\n", format_ns(quantile(bare_ns, 0.5)));
  fmt::print("  as the timing pass reports it  {:>9}   ratio {:.4f} (quartiles {:.4f} to {:.4f})\n",
             format_ns(quantile(reported_ns, 0.5)), ratio, quantile(reported_ratio, 0.25),
             quantile(reported_ratio, 0.75));
  fmt::print("  whole loop with its counters               ratio {:.4f} (outside the timed windows)\n",
             quantile(loop_ratio, 0.5));
  return !smoke && ratio > 1.02 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  std::string size = "1MiB";
  const auto add = [&](Arguments arguments) {
    arguments.flag("--smoke", smoke, "only check that the benchmark runs, with a few operations");
    arguments.option("--size", size, "bytes of the block").with_default();
  };
  const auto start = [&] {
    catch_interrupts();
    return run(parse_size(size), smoke);
  };
  return standalone_main("benchmark-meter-overhead",
                         "measure the time that the meter adds to the times that it reports", argc, argv, add, start);
}
