#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "os/unique_fd.h"
#include "replay/process/prepared.h"

namespace zerotax::replay {

/// The prepared file while it is written. It takes at most half of the free space; beyond that it throws MachineError.
class PreparedFile {
 public:
  PreparedFile(std::string path, std::uint32_t processes);

  /// Appends a block; returns its offset.
  std::uint64_t append_block(const std::string& operations);
  /// Appends offsets of streams.
  std::uint64_t append_streams(const std::vector<std::uint64_t>& first_blocks);
  void link(std::uint64_t block, std::uint64_t next);
  void set_process(std::uint32_t process, const prepared_process& row);

 private:
  void write(std::uint64_t offset, const void* from, std::size_t bytes);

  std::string path_;
  UniqueFd fd_;
  std::uint64_t most_bytes_ = ~std::uint64_t{0};
  std::uint64_t end_ = 0;
};

/// The threads of one process: puts operations into their streams, and the turns between them.
class Streams {
 public:
  /// `ordered`: threads take turns.
  Streams(PreparedFile& file, bool ordered) : file_(file), ordered_(ordered) {}

  /// This thread does the following operations. False if it ended before, or nobody is left who could start it.
  bool turn_to(std::uint32_t thread);
  void end_thread();
  /// One operation of the current thread.
  void begin(prepared_operation operation);
  void number(std::uint64_t value);

  [[nodiscard]] bool has_current() const { return current_ != nullptr; }

  /// Closes the streams; returns where their offsets are.
  std::uint64_t finish();
  [[nodiscard]] std::uint64_t threads() const { return first_blocks_.size(); }
  /// Of those at once.
  [[nodiscard]] std::size_t most_live() const { return most_live_; }

 private:
  struct Stream {
    std::uint32_t number = 0;  ///< in the prepared file
    std::string pending;
    std::uint64_t last_block = 0;
  };
  void flush(Stream& stream);
  bool start(std::uint32_t thread);

  PreparedFile& file_;
  bool ordered_;
  std::map<std::uint32_t, Stream> live_;
  std::vector<std::uint64_t> first_blocks_;
  std::vector<bool> known_;  ///< threads that were started
  Stream* current_ = nullptr;
  std::uint32_t current_thread_ = 0;
  std::uint64_t turn_ = 0;
  std::size_t most_live_ = 0;
};

}  // namespace zerotax::replay
