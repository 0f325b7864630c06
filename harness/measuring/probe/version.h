#pragma once

#include <cstddef>

namespace zerotax {

/// The allocator that answers in this process.
struct RunningMalloc {
  const void* base;  ///< load address of the object that defines calloc
  const char* path;  ///< its file
};

/// Reads an allocator's version from the running library; one static object of this kind in
/// allocators/<name>/version.cc.
class VersionReader {
 public:
  /// `read` writes the version (with a terminating zero; "" if it does not find it) and returns true, or returns false
  /// if the running allocator is not its own. It must find symbols by dlsym, not by linking: the plain probe carries
  /// every reader.
  using Read = bool (*)(const RunningMalloc& running, char* version, std::size_t bytes);
  VersionReader(const char* allocator, Read read);

 private:
  friend const char* read_version(const RunningMalloc& running, char* version, std::size_t bytes);
  const char* allocator_;
  Read read_;
  const VersionReader* next_;
};

/// Asks every reader. Returns the name of the allocator that was recognised, or nullptr. Where no reader knows the
/// version, it is the running library's build-id, or "" if it has none.
const char* read_version(const RunningMalloc& running, char* version, std::size_t bytes);

/// A function that the running allocator itself exports (not some other object of the same symbol), or nullptr.
void* find_in_running(const RunningMalloc& running, const char* symbol);

/// Copies the text that follows `marker` in the loaded image of the object whose path contains `object`, blanks
/// skipped, up to the first character that is neither a digit nor a point. False if the marker is missing.
bool find_in_image(const char* object, const char* marker, char* text, std::size_t bytes);

}  // namespace zerotax
