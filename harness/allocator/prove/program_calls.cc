#include "prove/program_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/size.h"

namespace zerotax::prove {
namespace {

/// Step of the fills, for pages of any size (process/contents.c).
constexpr std::uint64_t kSpan = 4096;
/// A child of fork uses only blocks up to this size (process/execute.c).
constexpr std::uint64_t kMostChildBytes = 64 * kMiB;

/// Returns a size as a constant of C.
std::string number(std::uint64_t value) { return fmt::format("{}{}", value, value >> 31 != 0 ? "u" : ""); }

bool overflows(const Function& function, const Op& op) {
  return function.has_argument("m") && op.m != 0 && op.n > UINT64_MAX / op.m;
}

}  // namespace

std::string ProgramCalls::Block::name() const { return fmt::format("b[{}]", number); }

bool ProgramCalls::checks_contents() const {
  return checks(FindingKind::kContentsChanged) || checks(FindingKind::kNotKept) || checks(FindingKind::kChildDied);
}

std::vector<ProgramCalls::Range> ProgramCalls::ranges_of(const Block& block) {
  const std::uint64_t bytes = block.bytes;
  switch (block.fill) {
    case kFillAll:
    case kFillUsable:
    case kFillZeros:
      return {{0, bytes}};
    case kFillLastPage:
      return {{less(bytes, kSpan), bytes}};
    case kFillTail:
      return {{less(bytes, 32), bytes}};
    case kFillBut512:
      return {{std::min<std::uint64_t>(512, bytes), bytes}};
    case kFillFirst:
      return {{0, std::min<std::uint64_t>(64, bytes)}};
    case kFillEnds:
      if (bytes <= 2 * kSpan) return {{0, bytes}};
      return {{0, kSpan}, {bytes - kSpan, bytes}};
    default:
      return {};
  }
}

void ProgramCalls::verify_range(const Block& block, const std::string& name, Range range, int value) {
  if (range.first >= range.second) return;
  put(fmt::format("check(\"live block {}\", {}, {}, {}, {});", block.number, name, number(range.first),
                  number(range.second), value));
}

void ProgramCalls::verify(const Block& block, std::uint64_t limit, const std::string& name) {
  if (!checks_contents()) return;
  const int value = block.fill == kFillZeros ? 0 : block.value;
  std::uint64_t zeros = 0;
  for (const auto& [begin, end] : ranges_of(block)) {
    if (block.is_zero) verify_range(block, name, {zeros, std::min(begin, limit)}, 0);
    verify_range(block, name, {begin, std::min(end, limit)}, value);
    zeros = end;
  }
  if (block.is_zero && block.fill != kFillBytePerPage) verify_range(block, name, {zeros, limit}, 0);
}

void ProgramCalls::write(Block& block, std::uint8_t fill) {
  if (fill == kFillNone) return;
  block.fill = fill;
  if (fill != kFillZeros) block.written_to = std::max(block.written_to, block.bytes);
  const int value = fill == kFillZeros ? 0 : block.value;
  const std::string name = block.name();
  if (fill == kFillUsable) {
    put(fmt::format("if ({0}) memset({0}, {1}, malloc_usable_size({0}));", name, value));
  } else if (fill == kFillBytePerPage) {
    put(fmt::format("for (size_t i = 0; {0} && i < {1}; i += {2}) {0}[i] = (char){3};", name, number(block.bytes),
                    kSpan, value));
    block.is_zero = false;
  } else {
    for (const auto& [begin, end] : ranges_of(block)) {
      if (begin >= end) continue;
      const std::string at = begin == 0 ? name : fmt::format("{} + {}", name, number(begin));
      put(fmt::format("if ({}) memset({}, {}, {});", name, at, value, number(end - begin)));
    }
  }
}

std::string ProgramCalls::expression(const std::string& symbol, const std::vector<std::string>& arguments, const Op& op,
                                     const Block* source, bool is_declared) const {
  std::vector<std::string> words;
  for (const std::string& each : arguments) {
    std::string word = each;
    if (each == "n") word = number(op.n);
    if (each == "m") word = number(op.m);
    if (each == "a") word = number(std::uint64_t{1} << op.lg);
    if (each == "f") word = fmt::format("{:#x}", 0x40U | op.lg);  // the alignment and MALLOCX_ZERO of jemalloc
    if (each == "p") word = source == nullptr ? "NULL" : source->name();
    if (each == "b") word = number(source == nullptr ? 0 : source->bytes);
    words.push_back(is_declared ? word : "(uintptr_t)" + word);
  }
  if (is_declared) return fmt::format("{}({})", symbol, fmt::join(words, ", "));
  words.resize(5, "0");
  return fmt::format("((any)dlsym(RTLD_DEFAULT, \"{}\"))({})", symbol, fmt::join(words, ", "));
}

void ProgramCalls::put_call(const Op& op, const Function& function, const Block& block, const Block* old) {
  const std::string source = old == nullptr ? "NULL" : old->name();
  const std::string text = expression(function.symbol, function.arguments, op, old, function.is_declared);
  if (function.symbol == "posix_memalign") {
    put(fmt::format("if (posix_memalign((void**)&{0}, {1}, {2}) != 0) {0} = NULL;", block.name(),
                    std::uint64_t{1} << op.lg, number(op.n)));
  } else if (function.promise == Promise::kGrownInPlace) {
    put(fmt::format("{} = {} >= {} ? {} : NULL;", block.name(), text, number(block.bytes), source));
  } else {
    put(fmt::format("{} = {}{};", block.name(), function.is_declared ? "" : "(void*)", text));
  }
}

void ProgramCalls::call(Op op) {
  if (op.row >= functions_.size()) return;
  const Function& function = functions_[op.row];
  const bool has_source = function.has_argument("p");
  const auto found = blocks_.find(op.block);
  if (has_source && found == blocks_.end()) return;
  const std::optional<Block> old = has_source ? std::optional(found->second) : std::nullopt;
  const Block* const source = old ? &*old : nullptr;
  // As in the process (call in process/execute.c).
  if (old && function.has_argument("a")) op.lg = std::min(op.lg, required_alignment(old->lg, old->bytes));
  const bool has_usable = function.promise == Promise::kGrownUsable || function.promise == Promise::kGrownInPlace;
  if (old && function.promise != Promise::kNone) verify(*old);
  ++made_;
  if (old && has_usable) put(fmt::format("size_t usable{} = malloc_usable_size({});", made_, old->name()));
  Block block{.number = made_,
              .bytes = op.n * (function.has_argument("m") ? op.m : 1),
              .function = &function,
              .lg = op.lg,
              .is_zero = function.promise == Promise::kZero,
              .value = static_cast<int>(0x80U | (made_ & 0x7FU))};
  if (old) block.written_to = old->written_to;
  put_call(op, function, block, source);
  if (overflows(function, op)) {
    put(fmt::format("if ({}) found(\"the product overflows, and {} returned a block\");", block.name(),
                    function.symbol));
    return;
  }
  check_new(block, source, has_usable);
  if (old) blocks_.erase(op.block);
  write(block, op.fill);
  blocks_[op.id] = block;
}

void ProgramCalls::check_apart(const std::string& name, std::uint64_t bytes, const Block* except) {
  if (!checks(FindingKind::kOverlap)) return;
  for (const auto& [id, other] : blocks_) {
    if (except != nullptr && other.number == except->number) continue;
    put(fmt::format("check_apart({}, {}, {}, {});", name, number(bytes), other.name(), number(other.bytes)));
  }
}

void ProgramCalls::check_new(const Block& block, const Block* old, bool has_usable) {
  const std::string name = block.name();
  const Promise promise = block.function->promise;
  const unsigned lg = required_alignment(block.lg, block.bytes);
  if (checks(FindingKind::kMisaligned)) {
    put(fmt::format("if ((uintptr_t){} % {}) found(\"{}: not aligned to {}\");", name, std::uint64_t{1} << lg,
                    block.function->symbol, std::uint64_t{1} << lg));
  }
  check_apart(name, block.bytes, old);
  if (checks(FindingKind::kUsableTooSmall) && block.bytes != 0) {
    put(fmt::format("if ({0} && malloc_usable_size({0}) < {1}) found(\"malloc_usable_size is too small\");", name,
                    number(block.bytes)));
  }
  if (old != nullptr && promise != Promise::kNone) verify(*old, std::min(old->bytes, block.bytes), name);
  std::string from = "0";
  if (promise == Promise::kGrown) from = number(old == nullptr ? 0 : old->bytes);
  if (promise == Promise::kGrownUnwritten && old != nullptr) from = number(std::max(old->bytes, old->written_to));
  if (has_usable) from = fmt::format("usable{}", block.number);
  if (promise != Promise::kNone && promise != Promise::kKeep) {
    put(fmt::format("check(\"{}\", {}, {}, {}, 0);", block.function->symbol, name, from, number(block.bytes)));
  }
}

void ProgramCalls::release(const Op& op) {
  const auto found = blocks_.find(op.block);
  if (found == blocks_.end()) return;
  const Block block = found->second;
  blocks_.erase(found);
  verify(block);
  Op as_called = op;
  as_called.n = block.bytes;
  as_called.lg = block.lg;
  const std::string& symbol = block.function->release;
  put(expression(symbol, block.function->release_arguments, as_called, &block, symbol == "free") + ";");
}

void ProgramCalls::fork(const Op& op) {
  const auto found = blocks_.find(op.block);
  const Block* const used = found == blocks_.end() ? nullptr : &found->second;
  const auto put_again = [&](const std::string& name, std::uint64_t bytes, const Block* except) {
    put(fmt::format("{0} = zero_again({0}, {1});", name, number(bytes)));
    check_apart(name, bytes, except);
  };
  put(fmt::format("pid_t child{} = fork();", op.id));
  put(fmt::format("if (child{} == 0) {{", op.id));
  for (const auto& [id, block] : blocks_) verify(block);
  if (used != nullptr && used->bytes <= kMostChildBytes) put_again(used->name(), used->bytes, used);
  if (op.m <= kMostChildBytes) {
    put(fmt::format("char* first = calloc(1, {});", number(op.m)));
    put(fmt::format("check(\"calloc in the child of fork\", first, 0, {}, 0);", number(op.m)));
    check_apart("first", op.m, nullptr);
    put_again("first", op.m, nullptr);
  }
  for (const auto& [id, block] : blocks_) {
    if (used == nullptr || block.number != used->number) verify(block);
  }
  put("_exit(bad);");
  put("}");
  put(fmt::format("int status{} = 0;", op.id));
  put(fmt::format("waitpid(child{0}, &status{0}, 0);", op.id));
  put(fmt::format("if (status{} != 0) found(\"the child of fork failed\");", op.id));
}

void ProgramCalls::fill_again(const Op& op) {
  const auto found = blocks_.find(op.block);
  if (found == blocks_.end()) return;
  Block& block = found->second;
  verify(block);
  const bool writes_all = op.fill == kFillAll || op.fill == kFillUsable || op.fill == kFillZeros;
  // A partial fill over another one would leave contents that no single fill describes.
  if (op.kind == kOpFill && (block.fill == kFillNone || writes_all)) write(block, op.fill);
}

ProgramCalls::Lines ProgramCalls::lines_of(const Op& op) {
  lines_.clear();
  switch (op.kind) {
    case kOpCall:
      call(op);
      break;
    case kOpFree:
      release(op);
      break;
    case kOpFork:
      fork(op);
      break;
    case kOpFill:
    case kOpVerify:
      fill_again(op);
      break;
    case kOpPause:
      put(fmt::format("usleep({});", op.n));
      break;
    case kOpTrim:
      put(fmt::format("malloc_trim({});", number(op.n)));
      break;
    case kOpLimit:
      put(fmt::format("limit({});", number(op.n)));
      break;
    default:
      break;
  }
  return lines_;
}

ProgramCalls::Lines ProgramCalls::last_lines() {
  lines_.clear();
  for (const auto& [id, block] : blocks_) verify(block);
  return lines_;
}

}  // namespace zerotax::prove
