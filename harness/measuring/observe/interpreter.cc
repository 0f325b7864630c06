#include "observe/interpreter.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "base/lines.h"
#include "base/names.h"

namespace zerotax {
namespace {

/// A version such as "3.12" after a word such as "python"; both numbers are 0 without a version.
struct Version {
  int major = 0;
  int minor = 0;

  [[nodiscard]] bool known() const { return major > 0; }
  [[nodiscard]] std::string text() const { return known() ? fmt::format(" {}.{}", major, minor) : ""; }
};

/// Returns whether a file's name is `begin` and a version, followed by ".so…", a letter of the build, or nothing.
bool is_named(const std::string& file, std::string_view begin, Version& version) {
  if (!file.starts_with(begin)) return false;
  const std::string rest = file.substr(begin.size());
  int used = 0;
  Version found;
  if (std::sscanf(rest.c_str(), "%d.%d%n", &found.major, &found.minor, &used) == 2) version = found;
  const std::string behind = rest.substr(static_cast<std::size_t>(used));
  return behind.empty() || behind.starts_with(".so") || behind == "d" || behind == "t" || behind.starts_with("d.so");
}

Interpreter cpython(const Version& version) {
  const bool writes = !version.known() || version.major > 3 || (version.major == 3 && version.minor >= 12);
  return {"CPython" + version.text(),
          writes ? "start it with -X perf, or with PYTHONPERFSUPPORT=1"
                 : "run the script with CPython 3.12 or later and -X perf",
          true};
}

Interpreter ruby(const Version& version) {
  return {"Ruby" + version.text(), "run the script with Ruby 3.3 or later and --yjit --yjit-perf"};
}

}  // namespace

Interpreter interpreter_of(const std::string& path) {
  const std::string file = file_name(path);
  Version version;
  if (is_named(file, "libpython", version) || is_named(file, "python", version)) {
    return version.known() ? cpython(version) : Interpreter{};
  }
  if (is_named(file, "libruby-", version) || is_named(file, "ruby", version)) return ruby(version);
  if (file == "node" || file == "nodejs" || file.starts_with("libnode.so")) {
    return {"Node.js",
            "start it with --perf-basic-prof (and --interpreted-frames-native-stack for interpreted functions)"};
  }
  return {};
}

void ScriptNames::add(const std::string& path, bool named, const std::string& problem) {
  const Interpreter interpreter = interpreter_of(path);
  if (interpreter.name.empty()) return;
  merge(interpreter.name, {interpreter.remedy, interpreter.by_stacks, named, problem, false});
}

void ScriptNames::add(const ScriptNames& other) {
  for (const auto& [name, more] : other.by_name_) merge(name, more);
}

void ScriptNames::add_frames(const std::string& path) {
  const Interpreter interpreter = interpreter_of(path);
  if (interpreter.by_stacks) merge(interpreter.name, {interpreter.remedy, interpreter.by_stacks, true, "", true});
}

void ScriptNames::merge(const std::string& name, const Found& more) {
  Found& found = by_name_[name];
  found.remedy = more.remedy;
  found.by_stacks = more.by_stacks;
  found.named = found.named || more.named;
  found.by_frames = found.by_frames || more.by_frames;
  if (found.problem.empty()) found.problem = more.problem;
}

std::vector<InterpreterNames> ScriptNames::list() const {
  std::vector<InterpreterNames> list;
  for (const auto& [name, found] : by_name_) {
    const bool unseen = found.by_stacks && !without_stacks_.empty();
    const std::string why = unseen ? fmt::format("no stacks were taken: {}, and {}", without_stacks_, found.remedy)
                                   : "it wrote no perf map: " + found.remedy;
    InterpreterNames one{name, NotAvailable{why}, found.problem};
    if (found.named && !unseen) one.names = std::string(found.by_frames ? "frames" : "perf map");
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<std::string> script_names_warnings(const std::vector<InterpreterNames>& interpreters) {
  std::vector<std::string> all;
  for (const InterpreterNames& each : interpreters) {
    if (!each.problem.empty()) {
      all.push_back(fmt::format("Names of {}'s functions are missing or wrong: {}.", each.interpreter, each.problem));
    } else if (!each.names) {
      all.push_back(fmt::format("{} names no functions of scripts ({}).", each.interpreter, each.names.why()));
    }
  }
  return all;
}

std::string script_names_lines(const std::vector<InterpreterNames>& interpreters) {
  std::string text;
  for (const std::string& each : script_names_warnings(interpreters)) text += wrap(each, "! ", "  ");
  return text;
}

}  // namespace zerotax
