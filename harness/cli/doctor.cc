#include <fmt/format.h>

#include <memory>

#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "doctor/report.h"
#include "drive/output_file.h"
#include "os/environment.h"

namespace zerotax {
namespace {

constexpr const char* kExamples =
    "  zerotax doctor\n"
    "  zerotax doctor --json doctor.json\n"
    "  zerotax doctor && zerotax study\n";

struct Options {
  std::string root;
  std::string json;
};

ExitStatus doctor(const Options& options) {
  if (!options.json.empty()) check_writable(options.json);
  const Machine machine(options.root);
  const std::vector<Row> rows = examine(machine);
  if (!options.json.empty()) {
    const Json environment =
        machine.is_this() ? describe_environment() : not_available("another machine's files were looked at");
    write_file(options.json, json_text(doctor_json(rows, environment)));
  }
  if (options.json != "-") fmt::print("{}", doctor_text(rows));
  return doctor_status(rows);
}

const Subcommand command(
    "doctor", "say what would spoil or limit a run on this machine, and how to change it", kExamples,
    [](CLI::App& app) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      app.add_option("--json", options->json, "write it to this file (- is standard output)")->check(not_empty());
      // For tests: files planted below a folder stand for the machine.
      app.add_option("--root", options->root)->group("");
      return [options] { return doctor(*options); };
    });

}  // namespace
}  // namespace zerotax
