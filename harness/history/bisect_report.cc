#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "base/units.h"
#include "history/outcome.h"
#include "history/recipe.h"

namespace zerotax::history {
namespace {

/// What is measured on another machine may differ: what counts for that.
std::string machine_lines(const Json& environment) {
  std::string text;
  for (const char* key : {"kernel", "cpu", "thp", "libc"}) {
    const auto found = environment.find(key);
    if (found != environment.end() && found->is_string()) {
      text += fmt::format("- {}: {}\n", key, found->get<std::string>());
    }
  }
  return text;
}

std::string command_text(const Json& command) {
  std::string text;
  for (const Json& word : command) {
    const auto plain = word.get<std::string>();
    const bool as_is = !plain.empty() && plain.find_first_of(" \t'\"\\$`*?[](){}<>|&;!#~=") == std::string::npos;
    text += (text.empty() ? "" : " ") + (as_is ? plain : quoted(plain));
  }
  return text;
}

std::string measured_where(const Json& question) {
  const auto place = question.find("place");
  if (place == question.end()) return "";
  return fmt::format(" ({}, {}, touch {:g}, {} thread)", place->at("case").get<std::string>(),
                     format_size(place->at("size_bytes").get<std::uint64_t>()), place->at("touch").get<double>(),
                     place->at("thread").get<std::string>());
}

}  // namespace

std::string report_draft(const Json& bisect) {
  const Json& first = bisect.at("first_bad");
  if (is_not_available(first)) throw std::logic_error("a report needs a commit");
  const auto text_at = [](const Json& json, const char* key) { return json.at(key).get<std::string>(); };
  const Json& before = first.at("before");
  const Json& findings = first.at("findings");
  const std::string name = text_at(first, "commit").substr(0, 10);
  std::string text =
      fmt::format("# {}: {}\n\n", text_at(bisect, "allocator"),
                  findings.empty() ? text_at(first, "value") + " since " + name : text_at(findings.front(), "title"));
  text += fmt::format(
      "Draft. `zerotax bisect` wrote it; check it before you send it. For the full report, with a reproducer in C:\n"
      "`zerotax report --allocator {}={}`\n\n",
      text_at(bisect, "allocator"), is_not_available(first.at("library")) ? "LIBRARY" : text_at(first, "library"));
  text += "## What changed\n\n";
  text += fmt::format("| version | {} | {} |\n|---|---|---|\n", text_at(bisect.at("question"), "text"),
                      "measured" + measured_where(bisect.at("question")));
  text += fmt::format("| before ({}) | {} | {} |\n", text_at(before, "name"),
                      text_at(before, "answer") == "good" ? "yes" : "no", text_at(before, "value"));
  text += fmt::format("| after ({}) | no | {} |\n\n", name, text_at(first, "value"));
  for (const Json& finding : findings) text += text_at(finding, "sentence") + "\n\n";
  const Json& difference = first.at("difference");
  if (!is_not_available(difference)) {
    text += fmt::format("All that changed in the metrics of `zerotax check`: {}\n\n", text_at(difference, "sentence"));
  }
  text += fmt::format("## The commit\n\n- commit {}\n- author: {}\n- date: {}\n- subject: {}\n\n```\n{}\n```\n\n",
                      text_at(first, "commit"), text_at(first, "author"), text_at(first, "date"),
                      text_at(first, "subject"), text_at(first, "diffstat"));
  text += fmt::format("Found by `git bisect run` among {}, in {}:\n\n```\n{}\n```\n\n",
                      format_counted(bisect.at("between").get<std::uint64_t>(), "commit"),
                      format_counted(bisect.at("steps").size(), "step"), command_text(bisect.at("command")));
  text += "Built by:\n\n```\n";
  for (const Json& command : bisect.at("recipe").at("build")) text += command.get<std::string>() + "\n";
  text += "```\n\n## Measured on\n\n" + machine_lines(bisect.at("environment"));
  text += fmt::format("- zerotax {}\n", text_at(bisect, "zerotax_version"));
  return text;
}

}  // namespace zerotax::history
