#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "bisect/recipe.h"
#include "bisect/repository.h"

namespace zerotax::bisect {

/// What earlier runs built and measured: $XDG_CACHE_HOME/zerotax/history, else ~/.cache/zerotax/history. A damaged
/// entry counts as none.
class Cache {
 public:
  /// Throws UsageError if there is no such folder and none can be made.
  Cache();
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The folder of what a recipe made of a commit.
  [[nodiscard]] std::string build_folder(const Commit& commit, const Recipe& recipe) const;

  /// A document of this name; nothing if there is none.
  [[nodiscard]] std::optional<Json> read(const std::string& name) const;
  /// Another command may read it at the same time: it is whole, or not there. If it cannot be written, it is left out.
  void write(const std::string& name, const Json& document) const;

 private:
  std::string folder_;
};

/// 16 digits that differ for different texts (FNV-1a).
std::string digits_of(const std::string& text);

}  // namespace zerotax::bisect
