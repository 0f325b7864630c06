#pragma once

#include <cstddef>
#include <string>

namespace zerotax {

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
