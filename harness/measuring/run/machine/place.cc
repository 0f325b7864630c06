#include "run/machine/place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "run/debian_packages.h"

namespace zerotax::machine {
namespace {

constexpr const char* kPrefix = "vm:";
constexpr std::uint64_t kDefaultMemory = std::uint64_t{4} << 30;
constexpr std::uint64_t kLeastMemory = std::uint64_t{256} << 20;
constexpr unsigned kMostCpus = 64;

[[noreturn]] void refuse(const std::string& problem) {
  throw UsageError(problem,
                   "give vm:RELEASE or vm:PATH, followed as needed by ,arch=aarch64 ,page=16K "
                   ",thp=always|madvise|never ,memory=SIZE ,cpus=N; for example --on vm:bookworm,thp=never");
}

/// Returns whether the kernel reads a text as one word of its command line.
bool is_one_word(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char each) { return each > ' ' && each < 0x7F && each != '"'; });
}

void set(MachinePlace& place, const std::string& key, const std::string& value) {
  if (key == "arch") {
    std::vector<std::string> processors;
    for (const Emulator& each : kEmulators) processors.emplace_back(each.processor);
    check_word("arch in --on", value, processors);
    place.emulator = emulator_for(value);
  } else if (key == "page") {
    static const std::vector<std::string> kPages{"4K", "16K"};
    check_word("page in --on", value, kPages);
    place.page = value == "16K" ? "16k" : "";
  } else if (key == "build") {
    place.build = value;
  } else if (key == "thp") {
    static const std::vector<std::string> kPolicies{"always", "madvise", "never"};
    check_word("thp in --on", value, kPolicies);
    place.thp = value;
  } else if (key == "memory") {
    place.memory_bytes = parse_size(value);
    if (place.memory_bytes < kLeastMemory) refuse(fmt::format("memory={} in --on is too small for a boot", value));
  } else if (key == "cpus") {
    const bool digits =
        !value.empty() && value.size() < 4 && value.find_first_not_of("0123456789") == std::string::npos;
    place.cpus = digits ? static_cast<unsigned>(std::stoul(value)) : 0;
    if (place.cpus < 1 || place.cpus > kMostCpus) refuse(fmt::format("invalid cpus={} in --on", value));
  } else if (key.starts_with("sysctl.")) {
    if (!is_one_word(key + value)) {
      refuse(
          fmt::format("{}={} in --on has a blank, a quotation mark or a control character, which would begin another "
                      "option of the kernel",
                      key, value));
    }
    place.boot_options += " " + key + "=" + value;
  } else {
    refuse(fmt::format("invalid '{}' in --on", key));
  }
}

}  // namespace

std::optional<MachinePlace> parse_place(const std::string& text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  MachinePlace place;
  place.memory_bytes = kDefaultMemory;
  std::size_t at = std::string_view(kPrefix).size();
  const auto word = [&] {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string found = text.substr(at, end - at);
    at = end + 1;
    return found;
  };
  place.kernel = word();
  if (place.kernel.empty()) refuse("--on vm: names no kernel");
  if (place.is_release()) check_word("kernel in --on", place.kernel, debian_releases());
  while (at <= text.size()) {
    const std::string part = word();
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) refuse(fmt::format("invalid '{}' in --on", part));
    set(place, part.substr(0, equals), part.substr(equals + 1));
  }
  if (!place.page.empty() && (place.emulator != emulator_for("arm64") || !place.is_release())) {
    refuse("page=16K in --on needs a release of Debian and arch=aarch64");
  }
  return place;
}

}  // namespace zerotax::machine
