#pragma once

#include <cstddef>

namespace zerotax {

/// The allocator that serves this process.
struct RunningMalloc {
  const void* base;  ///< load address of the object that defines calloc
  const char* path;  ///< path of the object that defines calloc
};

/// Reads an allocator's version from the running library. Each allocator has one static object of this kind in
/// allocators/<name>/version.cc.
class VersionReader {
 public:
  /// `read` returns false if the running allocator is not the one that it knows. Otherwise `read` returns true and
  /// writes the version with a terminating zero, or "" if the version is unknown. `read` must find symbols with dlsym,
  /// not by linking, because the plain probe contains every reader.
  using Read = bool (*)(const RunningMalloc& running, char* version, std::size_t bytes);
  VersionReader(const char* allocator, Read read);

 private:
  friend const char* read_version(const RunningMalloc& running, char* version, std::size_t bytes);
  const char* allocator_;
  Read read_;
  const VersionReader* next_;
};

/// Asks every reader. Returns the name of the recognized allocator, or nullptr. If no reader knows the version,
/// `version` is the running library's build ID, or "" if the library has no build ID.
const char* read_version(const RunningMalloc& running, char* version, std::size_t bytes);

/// Returns a function that the running allocator itself exports, not a function of the same name in another object.
/// Returns nullptr if there is none.
void* find_in_running(const RunningMalloc& running, const char* symbol);

/// Finds `marker` in the loaded image of the object whose path contains `object`. Copies the text after the marker,
/// skipping blanks, up to the first character that is neither a digit nor a point. Returns false if the marker is
/// missing.
bool find_in_image(const char* object, const char* marker, char* text, std::size_t bytes);

}  // namespace zerotax
