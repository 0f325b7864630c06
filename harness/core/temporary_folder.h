#pragma once

#include <string>

namespace zerotax {

/// A private folder in the temporary one, removed with all that is in it at the end.
class TemporaryFolder {
 public:
  /// Of the name zerotax-`what`-XXXXXX. Throws MachineError if it cannot be made.
  explicit TemporaryFolder(const std::string& what);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace zerotax
