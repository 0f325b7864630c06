#include "bisect/cache.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "bisect/document.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/input_file.h"

namespace zerotax::bisect {
namespace {

namespace fs = std::filesystem;

}  // namespace

Cache::Cache() : folder_(cache_folder("history")) {}

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

}  // namespace zerotax::bisect
