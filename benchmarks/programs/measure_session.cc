#include <fmt/format.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): sigabbrev_np

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/allocators.h"
#include "core/interrupt.h"
#include "measure.h"
#include "os/child.h"

using namespace zerotax;
namespace fs = std::filesystem;

namespace {

// FNV-1a of words of eight bytes, and of the length.
std::uint64_t hash_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 1099511628211U; };
  std::string buffer(1U << 20U, '\0');
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<std::size_t>(stream.gcount());
    for (std::size_t at = 0; at < got; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, &buffer[at], std::min(sizeof word, got - at));
      add(word);
    }
    add(got);
  }
  return hash;
}

std::string last_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::string last;
  while (std::getline(stream, line)) {
    if (!line.empty()) last = line;
  }
  return last.substr(0, 200);
}

std::string end_text(bool exited, int code) {
  if (exited) return code == 0 ? "ok" : fmt::format("exit status {}", code);
  const char* name = ::sigabbrev_np(code);
  return name != nullptr ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", code);
}

// What is the same for all contenders; what the benchmark was started with does not matter.
std::vector<std::string> variables_of(const Contender& contender, const fs::path& folder) {
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin",      "LC_ALL=C",
                                        "HOME=" + folder.string(), "TMPDIR=" + folder.string(),
                                        "PYTHONHASHSEED=0",        "PYTHONDONTWRITEBYTECODE=1",
                                        "PERL_HASH_SEED=0",        "OPENBLAS_NUM_THREADS=1",
                                        "GIT_CONFIG_NOSYSTEM=1",   "GIT_CONFIG_GLOBAL=/dev/null"};
  if (!contender.library.empty()) variables.push_back("LD_PRELOAD=" + contender.library);
  for (const auto& [key, value] : contender.environment)
    variables.push_back(std::string(key).append("=").append(value));
  return variables;
}

}  // namespace

Run run_program(const Program& program, const std::string& file, const Contender& contender, const fs::path& folder,
                std::chrono::seconds timeout) {
  const fs::path output = folder / "standard.output";
  const fs::path errors = folder / "standard.errors";
  std::error_code ignored;
  fs::remove(errors, ignored);
  fs::remove(folder / "server.socket", ignored);
  const std::vector<std::string> variables = variables_of(contender, folder);
  ChildCommand command;
  command.program = probe_folder() + "/../benchmarks/programs/meter";
  command.arguments = {folder.string(), program.input,  output.string(),
                       errors.string(), program.client, std::to_string(variables.size())};
  command.arguments.insert(command.arguments.end(), variables.begin(), variables.end());
  command.arguments.push_back(file);
  command.arguments.insert(command.arguments.end(), program.words.begin(), program.words.end());
  command.capture = true;
  command.timeout = timeout;
  const ChildResult result = run_child(command, stop_requested);

  Run run;
  if (result.end == ChildResult::End::kTimeout) {
    run.status = fmt::format("timed out after {} s", timeout.count());
    return run;
  }
  std::istringstream text(result.output);
  double user_us = 0;
  double system_us = 0;
  double kib = 0;
  bool exited = false;
  int code = 0;
  if (!(text >> run.figures.faults >> user_us >> system_us >> kib >> exited >> code)) {
    run.status = "not started";
    run.message = result.errors.substr(0, 200);
    return run;
  }
  run.figures.user_s = user_us / 1e6;
  run.figures.system_s = system_us / 1e6;
  run.figures.peak_bytes = kib * 1024;
  run.status = end_text(exited, code);
  if (run.status != "ok") run.message = last_line(errors);
  run.output = hash_of(output);
  return run;
}
