#include <fmt/format.h>

#include "measure.h"
#include "run/interrupt.h"
#include "run/metered_run.h"

using namespace zerotax;
namespace fs = std::filesystem;

namespace {

// Returns the environment for a contender. Most variables are the same for all contenders. The benchmark's own
// environment is not passed on.
std::vector<std::pair<std::string, std::string>> variables_of(const Program& program, const Contender& contender,
                                                              const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> variables = {
      {"PATH", "/usr/bin:/bin"},    {"LC_ALL", "C"},
      {"HOME", folder.string()},    {"TMPDIR", folder.string()},
      {"PYTHONHASHSEED", "0"},      {"PYTHONDONTWRITEBYTECODE", "1"},
      {"PERL_HASH_SEED", "0"},      {"OPENBLAS_NUM_THREADS", "1"},
      {"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_CONFIG_GLOBAL", "/dev/null"}};
  if (!contender.library.empty()) {
    variables.emplace_back("LD_PRELOAD", contender.library);
  } else if (program.own_allocator) {
    // Symbols are searched first in a preloaded library. Without one, Debian's redis-server would use jemalloc, which
    // it links.
    variables.emplace_back("LD_PRELOAD", "libc.so.6");
  }
  variables.insert(variables.end(), contender.environment.begin(), contender.environment.end());
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
  MeteredCommand command;
  command.program = file;
  command.words = {file};
  command.words.insert(command.words.end(), program.words.begin(), program.words.end());
  command.environment = variables_of(program, contender, folder);
  command.only_these_variables = true;
  command.folder = folder.string();
  command.input = program.input;
  command.output = output.string();
  command.errors = errors.string();
  command.client = program.client;
  command.timeout = timeout;
  command.fixed_layout = true;
  const MeteredRun result = run_metered(command);

  Run run;
  if (result.end == MeteredRun::End::kTimeout) {
    run.status = fmt::format("timed out after {} s", timeout.count());
    return run;
  }
  if (result.end != MeteredRun::End::kEnded) {
    run.status = "not started";
    run.message = result.why_not_started;
    return run;
  }
  run.figures.faults = static_cast<double>(result.faults);
  run.figures.user_s = static_cast<double>(result.user_ns) / 1e9;
  run.figures.system_s = static_cast<double>(result.system_ns) / 1e9;
  run.figures.peak_bytes = static_cast<double>(result.peak_bytes);
  run.status = end_text(result.exited, result.code);
  if (run.status != "ok") run.message = last_line_of_file(errors);
  run.output = hash_of_file(output);
  return run;
}
