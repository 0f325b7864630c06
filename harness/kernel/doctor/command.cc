#include <fmt/format.h>

#include <memory>

#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "doctor/table.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/print.h"

namespace zerotax::doctor {
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
  check_outputs({{"--json", options.json}});
  const Machine machine(options.root);
  const std::vector<Row> rows = examine(machine);
  if (!options.json.empty()) {
    const Measured<Environment> environment =
        machine.is_this() ? Measured(describe_environment()) : NotAvailable{"another machine's files were examined"};
    write_file(options.json, json_text(doctor_json(rows, environment)));
  }
  if (options.json != "-") print_lines(stdout, doctor_text(rows, palette_for(stdout)));
  say_next(next_step(rows));
  return doctor_status(rows);
}

const Subcommand command(
    "doctor", Wing::kKernel, "check what would spoil or limit a run on this machine, and how to fix it", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      add_json(arguments, options->json);
      // For tests: files planted below a folder stand for the machine.
      arguments.option("--root", options->root, "read the machine's files below this folder").hidden();
      return [options] { return doctor(*options); };
    });

}  // namespace
}  // namespace zerotax::doctor
