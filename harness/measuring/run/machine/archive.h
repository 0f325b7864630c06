#pragma once

#include <string>
#include <string_view>

namespace zerotax::machine {

/// A file system for the kernel to unpack into its memory: cpio, format newc. Source:
/// Documentation/driver-api/early-userspace/buffer-format.rst.
class Archive {
 public:
  void folder(std::string_view name) { entry(name, 0040755, ""); }
  void file(std::string_view name, unsigned mode, std::string_view content) { entry(name, 0100000 | mode, content); }
  /// All of it; nothing can be added afterwards.
  std::string finish();

 private:
  void entry(std::string_view name, unsigned mode, std::string_view content);
  void pad() { bytes_.append(-bytes_.size() % 4, '\0'); }

  std::string bytes_;
  unsigned count_ = 0;
};

}  // namespace zerotax::machine
