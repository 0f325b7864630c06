#include "prove/promises.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/error.h"
#include "files/document.h"
#include "os/input_file.h"

namespace zerotax::prove {
namespace {

const std::map<std::string, std::string>& embedded_zeros() {
  static const std::map<std::string, std::string> all{
#include "embedded_zeros.inc"
  };
  return all;
}

/// Returns arguments in the line form. A word that names no argument is a number.
std::string arguments_of(const std::vector<std::string>& words) {
  static const std::map<std::string, std::string> letters{{"size", "n"},      {"count", "m"},  {"alignment", "a"},
                                                          {"block", "p"},     {"result", "o"}, {"zero_flag", "f"},
                                                          {"block_size", "b"}};
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    const auto found = letters.find(word);
    parts.push_back(found == letters.end() ? word : found->second);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

std::string lines_of(const Zeros& zeros) {
  std::string text;
  for (const PromisedFunction& each : zeros.functions) {
    text += fmt::format("{} {} {} {} {}", each.symbol, arguments_of(each.arguments), word(each.promise), each.release,
                        arguments_of(each.release_arguments));
    if (each.most_bytes) text += fmt::format(" {}", *each.most_bytes);
    text += '\n';
  }
  return text;
}

std::string built_in_lines() {
  std::string text;
  for (const auto& [name, file] : embedded_zeros()) text += lines_of(Json::parse(file).get<Zeros>());
  return text;
}

std::string read_lines(const std::string& path) {
  if (!path.ends_with(".json")) return read_input_file(path);
  return lines_of(read_document(path, "zeros", "see results/schema/zeros.schema.json").get<Zeros>());
}

}  // namespace zerotax::prove
