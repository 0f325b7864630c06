#include "history/cache.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "files/output_file.h"
#include "history/document.h"
#include "os/input_file.h"

namespace zerotax::history {
namespace {

namespace fs = std::filesystem;

std::string cache_root() {
  const char* given = std::getenv("XDG_CACHE_HOME");
  // The specification of base directories: what is not absolute counts as not set.
  if (given != nullptr && given[0] == '/') return given;
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache";
  throw UsageError("there is no folder to keep built versions in: neither XDG_CACHE_HOME nor HOME is set",
                   "set XDG_CACHE_HOME to a folder");
}

}  // namespace

Cache::Cache() : folder_(cache_root() + "/zerotax/history") {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure) {
    throw UsageError(fmt::format("{} cannot be made: {}", folder_, failure.message()),
                     "set XDG_CACHE_HOME to a folder that you can write to");
  }
}

std::string Cache::build_folder(const Commit& commit, const Recipe& recipe) const {
  return fmt::format("{}/{}-{}", folder_, commit.id.substr(0, 16), digits_of(commit.id + key_of(recipe)));
}

std::optional<Json> Cache::read(const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  if (!is_there(path)) return std::nullopt;
  try {
    return read_json_file(path);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

void Cache::write(const std::string& name, const Json& document) const {
  const fs::path path = folder_ + "/" + name;
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  try {
    write_file(path, json_text(document));
  } catch (const UsageError&) {
    return;  // it is measured again the next time
  }
}

std::string digits_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

}  // namespace zerotax::history
