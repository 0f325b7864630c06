#include "cli/man_page.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>
#include <vector>

#include "cli/help_format.h"

namespace zerotax {
namespace {

const std::map<std::string, std::string>& embedded_topics() {
  static const std::map<std::string, std::string> all{
#include "embedded_topics.inc"
  };
  return all;
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = [] {
    std::vector<Topic> found;
    for (const auto& [name, text] : embedded_topics()) {
      const auto end = text.find('\n');
      found.push_back({name, text.substr(0, end), text.substr(text.find_first_not_of('\n', end))});
    }
    return found;
  }();
  return all;
}

std::string topic_for_manual(const Topic& topic, std::string (*escaped)(const std::string& text)) {
  std::istringstream lines(topic.text);
  std::string text;
  bool literal = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented && !literal) text += ".PP\n.RS 4\n.nf\n";
    if (!indented && literal) text += ".fi\n.RE\n";
    literal = indented;
    text += line.empty() ? ".PP\n" : escaped(indented ? line.substr(2) : line) + "\n";
  }
  return text + (literal ? ".fi\n.RE\n" : "");
}

namespace {

/// Escapes text that must be shown literally: no line becomes a request, and no character an escape. Hyphens are not
/// changed to typographic ones, so that readers can copy options.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char each : text) {
    if (each == '\\') {
      safe += "\\e";
    } else if (each == '-') {
      safe += "\\-";
    } else if (each == '\'' || each == '.') {
      safe += std::string("\\&") + each;
    } else {
      safe += each;
    }
  }
  return safe;
}

/// The names of an option and its value, such as "--size TEXT".
std::string heading(const CLI::Option& option) {
  std::string names = option.get_name(option.get_positional(), true);
  for (std::size_t at = names.find(','); at != std::string::npos; at = names.find(',', at + 2))
    names.insert(at + 1, " ");
  std::string text = "\\fB" + escaped(names) + "\\fR";
  if (option.get_positional()) return text;
  if (option.get_items_expected_max() != 0) {
    text += "\\fI" + escaped(value_text(option)) + "\\fR";
    if (const std::string fallback = default_text(option); !fallback.empty()) text += " " + escaped(fallback);
  }
  return text;
}

/// The values that a validator lists, such as "run,list" for TEXT:{run,list}.
std::string choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find('{');
  const auto close = type.rfind('}');
  return open == std::string::npos || close == std::string::npos ? "" : type.substr(open + 1, close - open - 1);
}

/// Leaves out the common options, which have their own section.
std::string options_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options(
           [](const CLI::Option* each) { return !each->get_group().empty() && each->get_group() != kCommonGroup; })) {
    const std::string one_of = choices(*option);
    text += fmt::format(".TP\n{}\n{}{}\n", heading(*option), escaped(option->get_description()),
                        one_of.empty() ? "" : escaped(fmt::format(" (one of {})", one_of)));
  }
  return text;
}

std::string synopsis(const CLI::App& command) {
  std::string text = fmt::format("\\fBzerotax {}\\fR", escaped(command.get_name()));
  const auto verbs = command.get_subcommands([](const CLI::App*) { return true; });
  if (!verbs.empty()) text += " \\fIVERB\\fR";
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    const std::string name = escaped(option->get_name(true));
    text += option->get_required() ? fmt::format(" \\fI{}\\fR", name) : fmt::format(" [\\fI{}\\fR]", name);
  }
  text += " [\\fIOPTION\\fR]...";
  return runs_program(command) ? text + R"( [\-\- \fIPROGRAM\fR [\fIARGUMENT\fR]...])" : text;
}

std::string examples_of(const CLI::App& command) {
  std::istringstream lines(command.get_footer());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) text += escaped(line.substr(2)) + "\n";
  }
  return text.empty() ? "" : ".PP\nExamples:\n.PP\n.RS 4\n.nf\n" + text + ".fi\n.RE\n";
}

}  // namespace

std::string man_page(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
  std::string text =
      ".\\\" Written by `zerotax help --man`: do not edit.\n.TH ZEROTAX 1 \"\" \"zerotax " ZEROTAX_VERSION
      "\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\n";
  text += "zerotax \\- what zeroing memory costs, in allocators and in programs\n.SH SYNOPSIS\n";
  for (const CLI::App* command : commands) text += synopsis(*command) + "\n.br\n";
  text +=
      ".SH DESCRIPTION\nA program that calls calloc pays a tax when its allocator writes zeros over memory that was "
      "already zero.\n"
      "zerotax measures that tax: which allocators do this, from which size on, and what it costs. An allocator is "
      "given as the name of a\n"
      "built-in one (see \\fBzerotax list\\fR), or as NAME=PATH for any library that replaces malloc. Root is not "
      "needed;\n"
      "\\fBzerotax doctor\\fR shows what it adds.\n.SH OPTIONS\n";
  text += options_of(app) + ".SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    text += fmt::format(".SS {}\n{}.\n{}", escaped(command->get_name()), escaped(command->get_description()),
                        options_of(*command));
    for (const CLI::App* verb : command->get_subcommands([](const CLI::App*) { return true; })) {
      text += fmt::format(".PP\n\\fB{} {}\\fR: {}.\n{}", escaped(command->get_name()), escaped(verb->get_name()),
                          escaped(verb->get_description()), options_of(*verb));
    }
    text += examples_of(*command);
  }
  for (const Topic& topic : topics()) {
    std::string title = topic.name;
    for (char& each : title)
      each = each == '-' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    // The sections of the commands list each command's own options.
    if (topic.name == "options") title = "COMMON OPTIONS";
    text += fmt::format(".SH {}\n{}", title, topic_for_manual(topic, escaped));
  }
  text += ".SH SEE ALSO\nThe pages under share/doc/zerotax: how each metric is measured, and the limits of each.\n";
  return text;
}

}  // namespace zerotax
