#include <fmt/format.h>

#include <memory>

#include "base/nearest.h"
#include "cli/complete.h"
#include "cli/man_page.h"
#include "cli/parser.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

ExitStatus list() {
  print_text("allocators (--allocator NAME; any other by --allocator NAME=PATH)\n");
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (!builtin.missing.empty()) {
      print_text("  {:<12} not in this build: {}\n", builtin.name, builtin.missing);
      continue;
    }
    const Allocator allocator = resolve_allocators({builtin.name}, {}).front();
    print_text("  {:<12} {}\n", builtin.name, allocator.version);
  }
  print_text("\ncases (--case NAME)\n");
  for (const auto& [name, known] : known_cases()) print_text("  {:<22} {}\n", name, known.summary);
  print_text("\na case with a command of its own\n  {:<22} {}\n", "fork_snapshot",
             "a snapshot of an array by a forked child, and seven alternatives (zerotax snapshot)");
  return ExitStatus::kDone;
}

const Subcommand list_command("list", Wing::kMeasuring, "List the allocators and cases that this machine can measure",
                              "  zerotax list\n", [](Arguments&) -> std::function<ExitStatus()> { return list; });

constexpr const char* kExamples =
    "  zerotax help\n"
    "  zerotax help sizes\n"
    "  zerotax help compare\n"
    "  zerotax help --man - | man -l -\n";

struct Options {
  std::vector<std::string> words;
  std::string man;
  bool complete = false;
};

std::vector<std::string> shown_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& topic : topics()) names.push_back(topic.name);
  return names;
}

/// App::help would describe the parsed command, which is `help` itself.
std::string help_of(const CLI::App& command, const std::string& name) {
  return command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
}

std::string list_of_topics() {
  std::string text = "\nTopics (zerotax help TOPIC):\n";
  for (const Topic& topic : topics()) text += fmt::format("  {:<24}{}\n", topic.name, topic.summary);
  return text;
}

/// The help that the words request: the overview if there are no words, else a topic, a command, or a verb of a
/// command.
std::string explained(const CLI::App& root, const std::vector<std::string>& words) {
  if (words.empty()) return help_of(root, root.get_name()) + list_of_topics();
  const std::string& first = words.front();
  for (const Topic& topic : topics()) {
    if (topic.name != first) continue;
    if (words.size() > 1) {
      throw UsageError(fmt::format("unexpected '{}' after zerotax help {}", words[1], first), "leave it out");
    }
    return fmt::format("zerotax: {}\n\n{}", topic.summary, topic.text);
  }
  const CLI::App* command = &root;
  std::string name = root.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> choices = shown_commands(*command);
    if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
      if (command == &root) {
        const std::vector<std::string> more = topic_names();
        choices.insert(choices.end(), more.begin(), more.end());
      }
      if (choices.empty()) throw UsageError(fmt::format("unexpected '{}' after {}", word, name), "leave it out");
      refuse_word(fmt::format("unknown topic '{}'", word), word, choices);
    }
    command = command->get_subcommand(word);
    name += " " + word;
  }
  return help_of(*command, name);
}

ExitStatus help(const CLI::App& root, const Options& options) {
  if (options.complete) {
    for (const std::string& word : complete(root, Subcommand::program_words())) print_text("{}\n", word);
    return ExitStatus::kDone;
  }
  if (!Subcommand::program_words().empty())
    throw UsageError("help runs no program", "leave out -- and everything after it");
  if (!options.man.empty()) {
    if (!options.words.empty()) throw UsageError("the manual page covers all topics", "leave out the topic, or --man");
    check_outputs({{"--man", options.man}});
    write_file(options.man, man_page(root));
  } else {
    print_lines(stdout, explained(root, options.words));
  }
  return ExitStatus::kDone;
}

// Shells call the hidden option --complete.
const Subcommand command(
    "help", Wing::kMeasuring, "Explain a command or a topic, such as sizes or exit-status", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      const CLI::App* root = arguments.app().get_parent();
      arguments.option("topic", options->words, "a command, or a topic (`zerotax help` lists them)")
          .completed_by([root] {
            std::vector<std::string> names = shown_commands(*root);
            for (std::string& name : topic_names()) names.push_back(std::move(name));
            return names;
          });
      arguments.option("--man", options->man, "write the manual page to this file (- means standard output)").path();
      arguments.flag("--complete", options->complete, "list completions for the last of the words after --").hidden();
      return [options, root] { return help(*root, *options); };
    });

}  // namespace

}  // namespace zerotax
