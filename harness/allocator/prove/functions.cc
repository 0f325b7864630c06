#include "prove/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/lines.h"
#include "prove/process/standard_functions.h"

namespace zerotax::prove {
namespace {

constexpr const char* kLineForm =
    "give lines of SYMBOL ARGUMENTS PROMISE RELEASE ARGUMENTS, as in 'mi_calloc_aligned n,m,a zero free p' "
    "(docs/prove.md)";

bool is_argument(const std::string& word) {
  const bool is_kind = word.size() == 1 && std::string("nmapbof").find(word) != std::string::npos;
  return is_kind || (!word.empty() && word.find_first_not_of("0123456789abcdefxABCDEF") == std::string::npos &&
                     word.find_first_of("0123456789") == 0);
}

Function function_of(const std::string& line, const std::string& where) {
  const auto refuse = [&](const std::string& problem) {
    throw UsageError(fmt::format("{}: '{}': {}", where, one_line(line), problem), kLineForm);
  };
  std::istringstream stream(line);
  std::string arguments;
  std::string promise;
  std::string release_arguments;
  Function function;
  if (!(stream >> function.symbol >> arguments >> promise >> function.release >> release_arguments)) {
    refuse("a line has five words");
  }
  function.arguments = split(arguments, ',');
  function.release_arguments = split(release_arguments, ',');
  constexpr std::size_t kMostArguments = 5;  // as in process/rows.h
  for (const auto* list : {&function.arguments, &function.release_arguments}) {
    if (list->empty() || list->size() > kMostArguments || !std::all_of(list->begin(), list->end(), is_argument)) {
      refuse("the arguments are one to five of n, m, a, p, b, o, f or numbers");
    }
  }
  const std::vector<std::string> promises = all_words<Promise>();
  const auto found = std::find(promises.begin(), promises.end(), promise);
  if (found == promises.end()) refuse(fmt::format("unknown promise '{}'", one_line(promise)));
  function.promise = static_cast<Promise>(found - promises.begin());
  return function;
}

void add_functions(const std::string& text, const std::string& where, std::vector<Function>& all) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos && line[begin] != '#') all.push_back(function_of(line, where));
  }
}

}  // namespace

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, between);) parts.push_back(part);
  return parts;
}

bool Function::has_argument(const char* word) const {
  return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
}

std::vector<Function> functions_of(const std::string& api, const std::string& where) {
  std::vector<Function> all;
  add_functions(&kStandardFunctions[0], "the standard functions", all);
  for (std::size_t i = 0; i < kDeclaredFunctions && i < all.size(); ++i) all[i].is_declared = true;
  add_functions(api, where, all);
  return all;
}

}  // namespace zerotax::prove
