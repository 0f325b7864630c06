#include "drive/probe_identity.h"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <string>

#include "base/error.h"
#include "os/child.h"

namespace zerotax {

std::map<std::string, std::string> ask_probe(const Allocator& allocator) {
  ChildCommand command;
  command.program = allocator.probe;
  command.arguments = {"--zerotax-identify"};
  command.capture = true;
  command.timeout = std::chrono::seconds(10);
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (allocator.preload) command.environment.emplace_back("LD_PRELOAD", *allocator.preload);
  const ChildResult result = run_child(command, nullptr);
  if (result.end == ChildResult::End::kNotStarted) {
    throw MachineError(fmt::format("the probe '{}' cannot be started", allocator.probe),
                       "build it with ./run build, or point ZEROTAX_PROBE_DIR at the folder of the probes");
  }
  if (result.end != ChildResult::End::kExited || result.code != 0) {
    const std::string what = allocator.preload ? fmt::format(" with '{}' preloaded", *allocator.preload) : "";
    const std::string said = result.errors.substr(0, result.errors.find('\n'));
    throw UsageError(fmt::format("a program that only asks for one byte fails under {}{}{}{}", allocator.name, what,
                                 said.empty() ? "" : ": ", said),
                     "try it alone: LD_PRELOAD=PATH /bin/true");
  }
  std::map<std::string, std::string> answer;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) answer[line.substr(0, equals)] = line.substr(equals + 1);
  }
  answer["errors"] = result.errors;
  return answer;
}

const std::map<std::string, KnownCase>& known_cases() {
  static const auto kCases = [] {
    const Allocator plain{"glibc", probe_folder() + "/bench-glibc", {}, {}, {}};
    std::map<std::string, KnownCase> cases;
    for (const auto& [key, value] : ask_probe(plain)) {
      constexpr std::string_view kSummary = "case.";
      constexpr std::string_view kMemory = "memory.";
      if (key.starts_with(kSummary)) cases[key.substr(kSummary.size())].summary = value;
      if (key.starts_with(kMemory)) cases[key.substr(kMemory.size())].memory = std::stod(value);
    }
    return cases;
  }();
  return kCases;
}

}  // namespace zerotax
