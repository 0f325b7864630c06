#include "os/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>

namespace zerotax {
namespace {

struct Known {
  int resource;
  const char* option;
  const char* what;
  std::uint64_t unit;  ///< size of one unit of ulimit, such as 1024 bytes; 0 if it differs between shells
};

constexpr Known kKnown[] = {
    {RLIMIT_AS, "-v", "address space", 1024},      {RLIMIT_DATA, "-d", "data segments", 1024},
    {RLIMIT_STACK, "-s", "the stack", 1024},       {RLIMIT_NOFILE, "-n", "open file descriptors", 1},
    {RLIMIT_FSIZE, "-f", "file sizes", 0},         {RLIMIT_CPU, "-t", "CPU time", 1},
    {RLIMIT_NPROC, "-u", "processes of a user", 1}};

const Known* known(int resource) {
  const auto* found =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& each) { return each.resource == resource; });
  return found == std::end(kKnown) ? nullptr : found;
}

}  // namespace

std::optional<std::uint64_t> resource_limit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

std::uint64_t allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  if (files.rlim_cur >= files.rlim_max) return files.rlim_cur;
  const rlim_t before = files.rlim_cur;
  files.rlim_cur = files.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_max : before;
}

std::string limit_option(int resource) {
  const Known* limit = known(resource);
  return limit == nullptr ? "" : limit->option;
}

std::string limit_words(int resource) {
  const Known* limit = known(resource);
  if (limit == nullptr) return "";
  const std::string words = std::string("the limit of ") + limit->what + ", ulimit " + limit->option;
  const auto value = resource_limit(resource);
  return value && limit->unit != 0 ? words + " " + std::to_string(*value / limit->unit) : words;
}

}  // namespace zerotax
