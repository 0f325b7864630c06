#include <fmt/format.h>

#include <sstream>

#include "base/statistics.h"
#include "contenders.h"
#include "largecache/policy.h"
#include "os/child.h"
#include "os/elf_file.h"
#include "point/steady_state.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/probe_process.h"
#include "run/program_launch.h"

using namespace zerotax;

std::vector<Contender> all_contenders() {
  std::vector<Contender> contenders;
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (!builtin.missing.empty() || builtin.name == "largecache") continue;
    Contender contender{builtin.name, false, {}, resolve_allocators({builtin.name}, {}).at(0)};
    if (builtin.name != "glibc") contender.program = *resolve_program_allocator(builtin.name, {});
    contenders.push_back(contender);
  }
  for (const auto* each = largecache::kPolicies; *each != nullptr; ++each) {
    const std::string policy = (*each)->name;
    const std::vector<std::string> env = {"largecache:LARGECACHE_POLICY=" + policy};
    contenders.push_back(
        {policy, true, *resolve_program_allocator("largecache", env), resolve_allocators({"largecache"}, env).at(0)});
  }
  return contenders;
}

std::optional<LoopFigures> run_loop(const Contender* contender, const LoopWords& words) {
  ChildCommand command;
  command.program = probe_folder() + "/../benchmarks/policies/loop";
  std::vector<std::string> sizes;
  for (const std::uint64_t size : words.sizes) sizes.push_back(std::to_string(size));
  command.arguments = {fmt::format("{}", fmt::join(sizes, ",")),
                       fmt::format("{}", words.fraction),
                       words.pattern,
                       std::to_string(words.threads),
                       std::to_string(words.budget_ms),
                       std::to_string(words.idle_ms)};
  if (contender == nullptr) {
    command.arguments.emplace_back("limit");
  } else {
    if (contender->program.preload) command.environment.emplace_back("LD_PRELOAD", *contender->program.preload);
    for (const auto& [key, value] : contender->program.env) command.environment.emplace_back(key, value);
  }
  command.capture = true;
  command.timeout = std::chrono::minutes(2);
  const ChildResult result = run_child(command, stop_requested);
  if (result.end != ChildResult::End::kExited || result.code != 0) return {};
  std::istringstream text(result.output);
  LoopFigures figures;
  double operations = 0;
  if (!(text >> figures.ns >> figures.faults >> operations >> figures.peak_bytes >> figures.idle_bytes)) return {};
  figures.peak_bytes *= 1024;
  figures.idle_bytes *= 1024;
  return figures;
}

std::int64_t zeroed_bytes(const Contender& contender, std::uint64_t size, double fraction) {
  const PointSpec point{0, "calloc_loop", size, fraction, "main", Repeats{}};
  const PassResult pass = run_pass(contender.probe, point, Pass::kAudit, {});
  if (pass.status() != PassResult::Status::kOk) return -1;
  std::vector<double> bytes;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    bytes.push_back(static_cast<double>(pass.op(i).zeroed_bytes));
  }
  return bytes.empty() ? -1 : static_cast<std::int64_t>(quantile(bytes, 0.5));
}
