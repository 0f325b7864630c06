#include "run/probe_identity.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/printable.h"
#include "files/shared_file.h"
#include "meter/probe_exit.h"
#include "meter/sample_block.h"
#include "os/child.h"
#include "os/machine_trouble.h"
#include "run/allocators.h"
#include "run/debian_library.h"
#include "run/helper_program.h"
#include "run/probe_process.h"

namespace zerotax {

namespace {

constexpr auto kPatience = std::chrono::seconds(10);

/// The loader's exit status if it cannot load a preloaded library or a dependency.
constexpr int kLoaderFailed = 127;

/// The probe's lines "key=value" (probe/main.cc).
struct Answer : ProbeAnswer {
  std::string layout;
  bool complete = false;

  explicit Answer(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto equals = line.find('=');
      if (equals != std::string::npos) take(line.substr(0, equals), line.substr(equals + 1));
    }
  }

 private:
  void take(const std::string& key, const std::string& value) {
    if (key == "malloc") malloc_file = value;
    if (key == "calloc") calloc_file = value;
    if (key == "realloc") realloc_file = value;
    if (key == "free") free_file = value;
    if (key == "version") version = printable(value);
    if (key == "known_as") known_as = value;
    if (key == "layout") layout = value;
    if (key == "end") complete = true;
    if (key.starts_with("case.")) cases[name_in(key)].summary = printable(value);
    if (key.starts_with("forks.")) cases[name_in(key)].forks = value == "1";
    if (key.starts_with("memory.")) cases[name_in(key)].memory = std::stod(value);
  }
  static std::string name_in(const std::string& key) { return key.substr(key.find('.') + 1); }
};

/// Throws an error if the probe's answer is incomplete.
void check_answered(const Allocator& allocator, const ChildResult& child, bool complete) {
  const std::string probe = fmt::format("the probe '{}'", allocator.probe);
  if (child.end == ChildResult::End::kNotStarted) throw start_trouble(probe, child, kMissingProbe);
  if (probe_says(child, kNoMachine)) throw probe_trouble(probe, probe_words(child));
  // A probe of an earlier version mistakes zerotax's question for an option of Google Benchmark.
  if (child.errors.find("unrecognized command-line flag: --zerotax-identify") != std::string::npos) {
    throw other_build(allocator);
  }
  const bool ended_well = child.end == ChildResult::End::kExited && child.code == 0;
  if (ended_well && complete) return;
  const std::string what =
      allocator.preload && !allocator.preload->empty() ? fmt::format(" with '{}' preloaded", *allocator.preload) : "";
  std::string said = child.errors.substr(0, child.errors.find('\n'));
  if (!said.empty()) said = ": " + said;
  const std::string problem = fmt::format("a program that only allocates one byte fails under {}{}: {}{}",
                                          allocator.name, what, how_it_ended(child, kPatience), said);
  constexpr const char* kAlone = "try the library alone: LD_PRELOAD=PATH /bin/true";
  if (child.end == ChildResult::End::kExited && child.code == kLoaderFailed) throw UsageError(problem, kAlone);
  throw_if_limited(child, problem);
  throw Error(ExitStatus::kFinding, problem, kAlone);
}

}  // namespace

MachineError other_build(const Allocator& allocator) {
  return {fmt::format("the probe '{}' and this program come from different builds", allocator.probe),
          "build both together with ./run build"};
}

ProbeAnswer ask_probe(const Allocator& allocator) {
  require_proc();
  const SharedFile file("zerotax-answer", 0);
  ChildCommand command;
  command.program = allocator.probe;
  command.arguments = {fmt::format("--zerotax-identify={}", file.fd())};
  command.inherited_fd = file.fd();
  command.capture = true;
  command.timeout = kPatience;
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (allocator.preload) command.environment.emplace_back("LD_PRELOAD", *allocator.preload);
  use_own_libraries(command, allocator.preload);
  // Signals do not interrupt the probe, because it takes milliseconds, and an interrupted run still writes its
  // document.
  const ChildResult result = run_child(command, nullptr);
  Answer answer(file.text());
  check_answered(allocator, result, answer.complete);
  if (answer.layout != fmt::format("{:#x}", kSampleBlockMagic)) throw other_build(allocator);
  answer.errors = result.errors;
  return answer;
}

const std::map<std::string, KnownCase>& known_cases() {
  static const auto kCases = ask_probe({"glibc", probe_folder() + "/bench-glibc", {}, {}, {}}).cases;
  return kCases;
}

std::optional<std::string> library_to_preload(const Allocator& allocator) {
  if (allocator.preload) return allocator.preload;
  const std::string library = ask_probe(allocator).malloc_file;
  if (std::filesystem::path(library).filename().string().starts_with("libc.so")) return std::nullopt;
  return library;
}

}  // namespace zerotax
