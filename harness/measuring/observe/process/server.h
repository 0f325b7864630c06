#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "observe/process/session.h"
#include "os/message.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Answers the requests of FileReader: the part of zerotax that parses foreign program files. It runs in a process of
/// its own (main.cc), and in a fuzzer.
class ReadServer {
 public:
  /// `current` receives the number of the file that is being parsed, for the process that sees this one end.
  explicit ReadServer(std::atomic<std::uint32_t>& current) : current_(current) {}

  /// `file` came with the request. An invalid request gets an answer without contents.
  MessageWriter answer(std::string_view request, UniqueFd file);

  /// Bytes of all open files.
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// Adds the bytes of a debug file that was opened for the session that is being answered.
  void add_file_bytes(std::uint64_t bytes) { answered_->file_bytes += bytes; }

 private:
  std::atomic<std::uint32_t>& current_;
  std::map<std::uint64_t, std::unique_ptr<ReadSession>> sessions_;
  ReadSession* answered_ = nullptr;
};

/// Bytes of an open file; 0 if unknown.
std::uint64_t size_of(int file);

}  // namespace zerotax
