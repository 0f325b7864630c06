#include "files/output_kind.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "files/document.h"
#include "os/input_file.h"

namespace zerotax {
namespace {

using Text = std::string_view;

bool has(Text text, Text words) { return text.find(words) != Text::npos; }

/// The parsed document; null if the text is not JSON.
Json parsed(Text text) {
  try {
    return parse_strict_json(std::string(text));
  } catch (const JsonTextError&) {
    return nullptr;
  }
}

/// Whether the text has one document per line, as `zerotax top` writes them.
bool is_samples(Text text) { return text.starts_with(R"({"schema":"zerotax.top/)"); }

/// Whether the text is a document that the running command writes. `zerotax record` writes zerotax.record/1, and
/// `zerotax snapshot` zerotax.snapshot_sweep/1, for example.
bool is_document(Text text) {
  if (output_rules().command == "top") return is_samples(text);
  const Json json = parsed(text);
  if (!json.is_object()) return false;
  const std::string schema = text_field(json, "schema", "");
  const std::string& command = output_rules().command;
  const auto is_of = [&](const std::string& kind) {
    return schema.starts_with("zerotax." + kind + "/") || schema.starts_with("zerotax." + kind + "_");
  };
  const bool is_comparison = has(schema, "_compare/") || schema.starts_with("zerotax.crossover/");
  if (is_comparison && !command.empty()) return command == "compare";
  return command.empty()
             ? schema.starts_with("zerotax.")
             : is_of(command) || (command == "trace" && is_of("functions")) ||
                   (command == "check" && is_of("program_check")) || (command == "findings" && is_of("summary"));
}

/// Whether the text has lines such as "main;run;calloc 4096", which flamegraph.pl reads. The format has no field that
/// could name zerotax.
bool is_folded(Text text) {
  bool calls = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const Text line = text.substr(at, end - at);
    const std::size_t blank = line.rfind(' ');
    if (blank == Text::npos || blank + 1 == line.size()) return false;
    if (line.find_first_not_of("0123456789", blank + 1) != Text::npos) return false;
    calls |= line.substr(0, blank).find(';') != Text::npos;
    at = end + 1;
  }
  return calls;
}

bool is_bencher(Text text) { return is_bencher_metrics(parsed(text)); }

bool is_svg(Text text) {
  return has(text, "<svg") && (has(text, "<!-- zerotax -->") || has(text, ">zerotax</dc:title>"));
}

bool is_text(Text text) {
  return has(text, "zerotax record: ") || has(text, "\nTime by activity\n") || has(text, "\nno call tree: ") ||
         has(text, "\nno samples: ");
}

bool is_history(Text text) {
  return text.starts_with("version ") && has(text.substr(0, text.find('\n')), "  what it changed");
}

struct Rule {
  Text option;
  bool (*is_ours)(Text text);
};

const Rule kRules[] = {
    {"--json", is_document},
    {"--baseline", [](Text) { return true; }},  // baseline/subject.h has its own rule for baselines
    {"--benchmark-json", [](Text text) { return has(text, R"("executable": "zerotax compare")"); }},
    {"--bmf", is_bencher},
    {"--calls", [](Text text) { return text.starts_with("ZTXCALLS"); }},
    {"--csv", [](Text text) { return text.starts_with("allocator_old,allocator_new,"); }},
    {"--faults", [](Text text) { return text.starts_with(R"({"time_ns":)") && has(text, R"("class":)"); }},
    {"--folded", is_folded},
    {"--html", [](Text text) { return has(text.substr(0, 64), "<!DOCTYPE html>") && has(text, "<b>zerotax</b>"); }},
    {"--junit", [](Text text) { return has(text, "<testsuites name=\"zerotax "); }},
    {"--log", is_samples},
    {"--man", [](Text text) { return has(text, "\n.TH ZEROTAX 1 "); }},
    {"--markdown", [](Text text) { return text.starts_with("### zerotax ") || text.starts_with("## Advice\n"); }},
    // The files in the folder of a history.
    {"--out DIR", [](Text text) { return is_document(text) || is_svg(text) || is_history(text); }},
    {"--perfetto", [](Text text) { return has(text.substr(0, 128), R"([{"name":"zerotax",)"); }},
    {"--pprof",
     [](Text text) { return text.starts_with("\x1f\x8b") && has(text.substr(0, 32), Text("zerotax\0", 8)); }},
    {"--prometheus", [](Text text) { return text.starts_with("# HELP zerotax_"); }},
    {"--report", [](Text text) { return has(text, "\nDraft. `zerotax bisect` wrote it"); }},
    {"--svg", is_svg},
    {"--text", is_text},
    {"ZEROTAX_VM_CONSOLE", [](Text text) { return text.starts_with(kConsoleHead); }},
};

const Rule* rule_of(Text option) {
  const auto* found =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& rule) { return rule.option == option; });
  return found == std::end(kRules) ? nullptr : found;
}

std::map<std::string, std::string>& remembered() {
  static std::map<std::string, std::string> options;
  return options;
}

}  // namespace

OutputRules& output_rules() {
  static OutputRules rules;
  return rules;
}

bool is_output_option(const std::string& option) { return rule_of(option) != nullptr; }

void check_replaceable(const std::string& option, const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto refuse = [&](const std::string& what, const char* remedy) {
    throw UsageError(fmt::format("{} {} would replace a file that {}", option, path, what), remedy);
  };
  constexpr mode_t kExecutable = S_IXUSR | S_IXGRP | S_IXOTH;
  if ((status.st_mode & kExecutable) != 0) refuse("is executable", "give another path");
  if (status.st_size == 0) return;
  std::string text;
  try {
    text = read_input_file(path);
  } catch (const UsageError& failure) {
    refuse(fmt::format("cannot be read ({})", failure.what()), "give another path");
  }
  if (text.starts_with(ELFMAG)) refuse("is a program or a library", "give another path");
  const Rule* rule = rule_of(option);
  if (output_rules().force || (rule != nullptr && rule->is_ours(text))) return;
  const std::string& command = output_rules().command;
  // An option without a dash is an environment variable.
  if (!option.starts_with("-")) refuse("zerotax did not write", "give another path, or add --force");
  refuse(fmt::format("`zerotax {}{}{}` did not write", command, command.empty() ? "" : " ", option),
         "give another path, or add --force");
}

void remember_output(const std::string& option, const std::string& path) { remembered()[path] = option; }

void check_still_replaceable(const std::string& path) {
  const auto found = remembered().find(path);
  if (found != remembered().end()) check_replaceable(found->second, path);
}

}  // namespace zerotax
