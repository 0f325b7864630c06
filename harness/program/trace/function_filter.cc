#include "trace/function_filter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/error.h"
#include "base/names.h"
#include "base/nearest.h"

namespace zerotax::trace {
namespace {

bool is_one_of(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string without_parameters(const std::string& function) {
  const std::size_t end = function.find_last_of(')');
  // Qualifiers such as " const" may follow the parameters. A closing bracket within a template argument does not end
  // the parameters.
  if (end == std::string::npos || function.find_first_of(">:", end) != std::string::npos) return function;
  int open = 0;
  for (std::size_t at = end + 1; at-- > 0;) {
    if (function[at] == ')') ++open;
    if (function[at] == '(' && --open == 0) return at == 0 ? function : function.substr(0, at);
  }
  return function;
}

bool FunctionFilter::matches(const std::vector<std::string>& names, const std::vector<std::string>& candidates) {
  bool found = false;
  for (const std::string& name : names) {
    for (const std::string& candidate : candidates) {
      // A literal comparison comes first, because operator[] would be read as a pattern.
      if (candidate != name && ::fnmatch(name.c_str(), candidate.c_str(), 0) != 0) continue;
      if (!is_one_of(matched_, name)) matched_.push_back(name);
      found = true;
    }
  }
  return found;
}

FunctionChoice FunctionFilter::choose(const NamedFrame& frame) {
  const std::string name = frame_label(frame, true);
  const std::string module = frame.module.value_or("");
  const std::vector<std::string> names{name, without_parameters(name)};
  const std::vector<std::string> files{file_name(module), module};
  known_functions_.insert(names.back());
  if (!module.empty()) known_objects_.insert(files.front());
  FunctionChoice choice;
  choice.begins = matches(functions, names) || functions.empty();
  choice.ends = matches(not_functions, names);
  const bool wanted = matches(objects, files) || objects.empty();
  choice.shown = !matches(not_objects, files) && wanted;
  return choice;
}

void FunctionFilter::check_matched(const char* option, const char* mark, const char* what,
                                   const std::vector<std::string>& names, const std::set<std::string>& known) const {
  for (const std::string& name : names) {
    if (is_one_of(matched_, name)) continue;
    throw UsageError(fmt::format("{} '{}{}' matches no {} in the trace", option, mark, name, what),
                     did_you_mean(name, {known.begin(), known.end()}) +
                         "zerotax trace functions without filters lists all functions");
  }
}

void FunctionFilter::check_all_matched() const {
  if (known_functions_.empty()) return;
  check_matched("--filter", "", "function", functions, known_functions_);
  check_matched("--filter", "!", "function", not_functions, known_functions_);
  check_matched("--object", "", "program or library", objects, known_objects_);
  check_matched("--object", "!", "program or library", not_objects, known_objects_);
}

}  // namespace zerotax::trace
