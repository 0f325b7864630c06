// The lines of JSON that zerotax-contract prints, one for the system and one for each promise.
#include "contract/suite_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "os/input_file.h"

namespace zerotax::contract {
namespace {

std::vector<Reliance> reliances(const std::string& text) {
  std::vector<Reliance> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("; ", at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t colon = one.find(": ");
    all.push_back(colon == std::string::npos ? Reliance{one, ""}
                                             : Reliance{one.substr(0, colon), one.substr(colon + 2)});
    at = end + 2;
  }
  return all;
}

Promise promise_of(const Json& line) {
  return {line.at("id"), line.at("family"), line.at("statement"), reliances(line.at("relied_on_by"))};
}

Verdict verdict_of(const std::string& word) {
  for (const Verdict verdict : {Verdict::kKept, Verdict::kBroken, Verdict::kUnsupported}) {
    if (word == word_of(verdict)) return verdict;
  }
  return Verdict::kNotTestable;
}

System system_of(const Json& head) {
  return {head.at("system"), head.at("kernel"), head.at("machine"), head.at("page_bytes"), head.at("user_id")};
}

/// A line of the suite's; what is broken comes with a program that was not run.
Result result_of(const Promise& promise, const Json& line) {
  Result result;
  result.promise = promise;
  result.verdict = verdict_of(line.at("verdict"));
  result.detail = line.at("detail");
  result.error = text_field(line, "error", "");
  result.seconds = line.at("seconds");
  if (line.contains("tries")) result.tries = line.at("tries").get<std::uint64_t>();
  if (line.contains("found")) {
    result.evidence = Evidence{line.at("address"), line.at("offset"), line.at("expected"), line.at("found")};
  }
  if (result.verdict == Verdict::kBroken) {
    const Reproducer::Run elsewhere{"the promise was tested elsewhere: run it there", 0, ""};
    result.reproducer = Reproducer{line.at("program"), elsewhere, elsewhere};
  }
  return result;
}

/// Its lines, each an object; the last one may be cut off.
std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    lines.push_back(parse_strict_json(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

}  // namespace

const char* word_of(Verdict verdict) {
  constexpr const char* kWords[] = {"kept", "broken", "unsupported", "not testable here"};
  return kWords[static_cast<std::size_t>(verdict)];
}

std::vector<Promise> read_promises(const std::string& output) {
  std::vector<Promise> all;
  for (const Json& line : lines_of(output)) all.push_back(promise_of(line));
  return all;
}

std::optional<SuiteAnswer> read_suite(const std::string& output, const Promise& promise) {
  const std::vector<Json> lines = lines_of(output);
  if (lines.size() != 2) return std::nullopt;
  return SuiteAnswer{system_of(lines[0]), result_of(promise, lines[1])};
}

Results read_results(const std::string& path) {
  const auto foreign = [&] {
    return UsageError(fmt::format("'{}' is not what zerotax-contract --json prints", path),
                      "run zerotax-contract --json there, and give the file with what it printed");
  };
  try {
    const std::vector<Json> lines = lines_of(read_input_file(path));
    if (lines.empty() || text_field(lines[0], "suite", "") != "zerotax-contract/1") throw foreign();
    Results all;
    all.system = system_of(lines[0]);
    all.race_seconds = lines[0].at("race_seconds");
    for (std::size_t i = 1; i < lines.size(); ++i) all.results.push_back(result_of(promise_of(lines[i]), lines[i]));
    all.complete = all.results.size() == lines[0].at("promises").get<std::size_t>();
    return all;
  } catch (const Json::exception&) {
    throw foreign();
  } catch (const JsonTextError&) {
    throw foreign();
  }
}

}  // namespace zerotax::contract
