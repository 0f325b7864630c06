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
    const Measured<Environment> environment = machine.is_this()
                                                  ? Measured(describe_environment())
                                                  : NotAvailable{"the files of another machine were examined"};
    write_file(options.json, json_text(doctor_document(rows, environment)));
  }
  if (options.json != "-") {
    print_lines(stdout, wants_full_text() ? doctor_text(rows, palette_for(stdout)) : answer_text(doctor_answer(rows)));
  }
  return doctor_status(rows);
}

const Subcommand command(
    "doctor", Wing::kKernel, "Check this machine for conditions that would spoil or limit a measurement", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      add_json(arguments, options->json);
      // Tests plant files below a folder. doctor then examines these files instead of the machine's.
      arguments.option("--root", options->root, "read the machine's files from this folder instead of /").hidden();
      return [options] { return doctor(*options); };
    });

}  // namespace
}  // namespace zerotax::doctor
