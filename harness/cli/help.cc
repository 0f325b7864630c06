#include <fmt/format.h>

#include <memory>

#include "cli/complete.h"
#include "cli/man_page.h"
#include "cli/parser.h"
#include "cli/subcommand.h"
#include "core/output_file.h"

namespace zerotax {
namespace {

struct Options {
  std::string man;
  bool complete = false;
};

ExitStatus help(const CLI::App& root, const Options& options) {
  if (options.complete) {
    for (const std::string& word : complete(root, Subcommand::program_words())) fmt::print("{}\n", word);
  } else if (!options.man.empty()) {
    write_file(options.man, man_page(root));
  } else {
    // App::help would describe the command that was given.
    fmt::print("{}", root.get_formatter()->make_help(&root, root.get_name(), CLI::AppFormatMode::Normal));
  }
  return ExitStatus::kDone;
}

// Hidden (no summary): for the build, which makes the manual page with it, and for shells, which call it for
// completion.
const Subcommand command(
    "help", "", "  zerotax help --man -\n  zerotax help --complete -- run --allo\n",
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("--man", options->man, "write the manual page to this file (- is standard output)").path();
      arguments.flag("--complete", options->complete, "list completions for the last of the words after --");
      return [options, root = arguments.app().get_parent()] { return help(*root, *options); };
    });

}  // namespace
}  // namespace zerotax
