#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prove/functions.h"
#include "prove/record_file.h"
#include "prove/result.h"

namespace zerotax::prove {

/// Writes the operations of a record as lines of C: calls, stores to the blocks, and checks of promises.
class ProgramCalls {
 public:
  using Lines = std::vector<std::string>;

  /// If `kind` is given, only its promise is checked.
  ProgramCalls(const std::vector<Function>& functions, std::optional<FindingKind> kind)
      : functions_(functions), kind_(kind) {}

  Lines lines_of(const Op& op);
  /// Returns the checks of all live blocks at the end.
  Lines last_lines();
  /// Returns the number of blocks so far.
  [[nodiscard]] std::uint32_t made() const { return made_; }

 private:
  /// A live block of the program, b[number].
  struct Block {
    std::uint32_t number = 0;
    std::uint64_t bytes = 0;
    const Function* function = nullptr;
    std::uint8_t lg = 0;
    bool is_zero = false;          ///< whether the bytes that the program did not write must be zero
    int value = 0;                 ///< byte that the program writes
    std::uint8_t fill = 0;         ///< enum fill
    std::uint64_t written_to = 0;  ///< no byte at or behind this offset was written, also not before a reallocation
    [[nodiscard]] std::string name() const;
  };
  using Range = std::pair<std::uint64_t, std::uint64_t>;

  [[nodiscard]] bool checks(FindingKind kind) const { return !kind_ || *kind_ == kind; }
  [[nodiscard]] bool checks_contents() const;
  void put(std::string line) { lines_.push_back(std::move(line)); }
  static std::vector<Range> ranges_of(const Block& block);
  void verify(const Block& block, std::uint64_t limit, const std::string& name);
  void verify(const Block& block) { verify(block, block.bytes, block.name()); }
  void verify_range(const Block& block, const std::string& name, Range range, int value);
  void write(Block& block, std::uint8_t fill);
  [[nodiscard]] std::string expression(const std::string& symbol, const std::vector<std::string>& arguments,
                                       const Op& op, const Block* source, bool is_declared) const;
  void call(Op op);
  void put_call(const Op& op, const Function& function, const Block& block, const Block* old);
  void check_new(const Block& block, const Block* old, bool has_usable);
  void check_apart(const std::string& name, std::uint64_t bytes, const Block* except);
  void release(const Op& op);
  void fork(const Op& op);
  void fill_again(const Op& op);

  const std::vector<Function>& functions_;
  std::optional<FindingKind> kind_;
  std::map<std::uint32_t, Block> blocks_;  ///< live blocks by id
  std::uint32_t made_ = 0;
  Lines lines_;
};

}  // namespace zerotax::prove
