#include "parameters.h"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "os/page.h"
#include "placement.h"

namespace snapshot {
namespace {

constexpr unsigned kMostThreads = 256;
constexpr unsigned kMostPasses = 1000;

std::uint64_t number(const std::string& key, const std::string& text, std::uint64_t least, std::uint64_t most) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (!text.empty() && *end == '\0' && text[0] != '-' && value >= least && value <= most) return value;
  throw std::invalid_argument(key + "=" + text + " is not from " + std::to_string(least) + " to " +
                              std::to_string(most));
}

void set(Parameters& parameters, const std::string& key, const std::string& text) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;
  if (key == "alternative") {
    parameters.alternative = text;
  } else if (key == "array") {
    parameters.array_bytes = number(key, text, zerotax::kPageBytes, kMostBytes);
  } else if (key == "batch") {
    parameters.batch_bytes = number(key, text, zerotax::kPageBytes, kMostBytes);
  } else if (key == "writers") {
    parameters.writers = static_cast<unsigned>(number(key, text, 1, kMostThreads));
  } else if (key == "checkpointers") {
    parameters.checkpointers = static_cast<unsigned>(number(key, text, 1, kMostThreads));
  } else if (key == "passes") {
    parameters.passes = static_cast<unsigned>(number(key, text, 1, kMostPasses));
  } else if (key == "hold") {
    parameters.hold = std::strtod(text.c_str(), nullptr);
    if (!(parameters.hold >= 0 && parameters.hold <= 1)) throw std::invalid_argument("hold is not from 0 to 1");
  } else if (key == "memory") {
    parameters.memory = number(key, text, 0, 1) == 1;
  } else if (key == "placement") {
    static_cast<void>(Placement{text});  // throws
    parameters.placement = text;
  } else if (key == "cpu") {
    parameters.cpu = number(key, text, 0, 1) == 1;
  } else if (key == "pagemap") {
    parameters.pagemap = number(key, text, 0, 1) == 1;
  } else {
    throw std::invalid_argument("unknown word " + key);
  }
}

}  // namespace

std::uint64_t Parameters::held_batches() const {
  return hold < 0 ? batches() : static_cast<std::uint64_t>(std::ceil(hold * static_cast<double>(batches())));
}

Parameters parse_parameters(int count, char** words) {
  Parameters parameters;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument(word + " is not KEY=VALUE");
    set(parameters, word.substr(0, equals), word.substr(equals + 1));
  }
  if (parameters.alternative.empty()) throw std::invalid_argument("no alternative=NAME is given (--list has them)");
  if (parameters.array_bytes == 0 || parameters.array_bytes % zerotax::kPageBytes != 0) {
    throw std::invalid_argument("array is not a multiple of 4096");
  }
  if (parameters.batch_bytes == 0 || parameters.batch_bytes % zerotax::kPageBytes != 0) {
    throw std::invalid_argument("batch is not a multiple of 4096");
  }
  if (parameters.batch_bytes > parameters.array_bytes) throw std::invalid_argument("batch is larger than the array");
  return parameters;
}

}  // namespace snapshot
