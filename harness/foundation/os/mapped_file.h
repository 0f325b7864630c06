#pragma once

#include <cstddef>
#include <string>

namespace zerotax {

/// A file's bytes, mapped to read; none if it is empty or cannot be read, and then `failure` is errno's value (0:
/// empty).
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
