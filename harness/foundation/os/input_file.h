#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace zerotax {

/// Throws UsageError if the current folder, on which relative paths depend, was deleted.
void require_working_folder();

/// Throws UsageError if the path is relative and the current folder was deleted. This error explains why nothing was
/// found at the path.
void require_folder_of(const std::filesystem::path& path);

/// Returns a path as absolute. If the current folder was deleted, throws the error of require_working_folder instead of
/// std::filesystem's.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// Maximum size of an input file, larger than any file that zerotax writes. A larger file is a mistake, and would only
/// fill the memory.
inline constexpr std::size_t kMostInputBytes = std::size_t{1} << 30;

/// Whether anything has this name, even a dangling link, so that an unreadable file is not reported as missing.
bool is_there(const std::string& path);

/// Returns the contents of a regular file. Throws UsageError if the file is larger than kMostInputBytes or cannot be
/// read. Other kinds of file are refused at once, because a pipe, a device or a socket could block or never end.
std::string read_input_file(const std::string& path);

/// Returns the text of a file. The text is empty or truncated if the file cannot be read. Reading a /proc file may fail
/// in the middle, when the process that the file describes ends. A std::istreambuf_iterator would then throw, even on a
/// stream that throws nothing.
inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A file's bytes, mapped for reading. The mapping is empty if the file is empty (`failure` is 0) or cannot be read
/// (`failure` is errno).
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int failure() const { return failure_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  int failure_ = 0;
};

}  // namespace zerotax
