#include "observe/unwinder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>

#include "base/names.h"
#include "base/printable.h"
#include "observe/file_reader.h"
#include "os/elf_file.h"
#include "os/machine_code.h"
#include "os/process_file.h"
#include "os/processor.h"

namespace zerotax {
namespace {

/// The kind of the call instruction before a possible return address.
enum class CallKind { kNone, kOfFunction, kByRegister };

/// Reads the instruction that ends at `address`. `function` is the start of the function that the instruction should
/// call.
CallKind call_before(std::uint64_t address, std::uint64_t function,
                     const std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>& read) {
  unsigned char code[kCallBytes];
  if (address < sizeof code || !read(address - sizeof code, &code[0], sizeof code)) return CallKind::kNone;
  const auto leads_there = [&](std::uint64_t slot) {
    std::uint64_t target = 0;
    return function != 0 && read(slot, &target, sizeof target) && target == function;
  };
  const CallTarget call = call_ending_at(address, &code[0]);
  switch (call.kind) {
    case CallTarget::Kind::kFunction: {
      if (call.address == function && function != 0) return CallKind::kOfFunction;
      unsigned char stub[kStubBytes];
      if (!read(call.address, &stub[0], sizeof stub)) return CallKind::kNone;
      const auto slot = slot_of_stub(call.address, &stub[0]);
      return slot && leads_there(*slot) ? CallKind::kOfFunction : CallKind::kNone;
    }
    case CallTarget::Kind::kSlot:
      return leads_there(call.address) ? CallKind::kOfFunction : CallKind::kNone;
    case CallTarget::Kind::kRegister:
      return CallKind::kByRegister;
    case CallTarget::Kind::kNone:
      break;
  }
  return CallKind::kNone;
}

constexpr std::size_t kMostCandidates = 32;
/// Maximum number of files that are searched for a called function.
constexpr std::size_t kMostFiles = 8192;

/// Whether a frame belongs to the interpreter's loop. The script function replaces frames of the loop, and of the code
/// between the loop and a trampoline.
bool is_loop(const Frame& frame) { return frame.function.starts_with("_PyEval_EvalFrameDefault"); }
bool is_way_to_trampoline(const Frame& frame) { return frame.function.starts_with("py_trampoline_evaluator"); }

/// Reads a word of the copied stack.
bool read_stack(const PerfEvent& sample, std::uint64_t address, std::uint64_t& word) {
  const std::uint64_t begin = sample.registers[kStackPointer];
  const std::size_t bytes = sample.stack.size();
  if (bytes < sizeof word || address < begin || address - begin > bytes - sizeof word) return false;
  std::memcpy(&word, sample.stack.data() + (address - begin), sizeof word);
  return true;
}

}  // namespace

Unwinder::Unwinder(std::uint32_t pid, std::shared_ptr<PerfMap> scripts)
    : pid_(pid), scripts_(std::move(scripts)), reader_(std::make_unique<ReadClient>()) {}

Unwinder::Unwinder(std::uint32_t pid, Unwinder& parent)
    : pid_(pid),
      scripts_(std::make_shared<PerfMap>(static_cast<pid_t>(pid), parent.scripts())),
      reader_(std::make_unique<ReadClient>()) {
  for (const Mapping& mapping : parent.mappings_) map(mapping);
}

Unwinder::~Unwinder() = default;

void Unwinder::map(const Mapping& mapping) {
  // A new mapping replaces the old ones that it overlaps.
  std::erase_if(mappings_, [&](const Mapping& old) { return old.begin < mapping.end && mapping.begin < old.end; });
  mappings_.push_back(mapping);
  opened_.erase(opened_.lower_bound(mapping.begin), opened_.lower_bound(mapping.end));
  names_.clear();
  functions_.clear();
  starts_.clear();
  called_.clear();
  files_.clear();
  for (const Mapping& each : mappings_) files_.push_back(each.begin);
  ++changes_;
  if (!mapping.name.empty() && mapping.name[0] == '/') new_files_.push_back(mapping);
}

void Unwinder::open_files() {
  for (const Mapping& file : std::exchange(new_files_, {})) {
    const auto pid = static_cast<pid_t>(pid_);
    UniqueFd opened = file.path.empty()
                          ? open_mapped_file(pid, {file.begin, file.end, file.name, file.inode, file.device})
                          : open_program_file(file.path);
    if (!opened || !is_elf_file(opened.get())) continue;
    const FileId id = file_id(opened.get());
    const auto foreign = FileReader::shared().file(std::move(opened), {pid, file.name, id});
    const MessageWriter place =
        MessageWriter().text(file_name(file.name)).text(file.name).number(file.begin).number(file.file_offset);
    const auto answer = reader_->add(ReadRequest::kMap, foreign, place);
    if (!answer) continue;
    MessageReader in(answer);
    const bool is_placed = in.number() != 0;
    opened_[file.begin] = {id, foreign, is_placed ? std::optional(in.number()) : std::nullopt};
  }
}

const Unwinder::Mapping* Unwinder::mapping_of(std::uint64_t address) const {
  const auto found = std::find_if(mappings_.begin(), mappings_.end(),
                                  [&](const Mapping& each) { return address >= each.begin && address < each.end; });
  return found != mappings_.end() ? &*found : nullptr;
}

bool Unwinder::is_trampoline(std::uint64_t address) {
  const PerfMapNames::Entry* entry = script(address);
  return entry != nullptr && entry->function.trampoline;
}

/// Steps over CPython's trampoline, which has no call frame information. The trampoline calls the interpreter's loop
/// with two words on the stack. The upper word is the trampoline's return address. The lower word is padding, or the
/// caller's frame pointer if the trampoline saves it (Python/asm_trampoline.S: "sub $8, %rsp", or "push %rbp; mov %rsp,
/// %rbp"; "stp x29, x30, [sp, -16]!").
std::optional<Unwinder::Start> Unwinder::behind_trampoline(const PerfEvent& sample, const Start& callee) {
  Start behind = callee;
  const std::uint64_t stack = callee.registers[kStackPointer];
  std::uint64_t value = 0;
  std::uint64_t back = 0;
  if ((callee.known >> kStackPointer & 1) == 0 || !read_stack(sample, stack + 8, back) || back == 0)
    return std::nullopt;
  const bool keeps = (behind.known >> kFramePointer & 1) != 0 && behind.registers[kFramePointer] == stack;
  if (keeps && read_stack(sample, stack, value)) behind.set(kFramePointer, value);
  behind.set(kStackPointer, stack + 16);
  behind.set(kProgramCounter, back - 1);
  behind.exact = false;
  return behind;
}

/// Adds the addresses of the frames from `start` on. Returns a start behind CPython's trampoline if unwinding ends
/// there.
std::optional<Unwinder::Start> Unwinder::unwind_from(const PerfEvent& sample, const Start& start, Unwound& unwound) {
  MessageWriter request;
  for (const std::uint64_t each : start.registers) request.number(each);
  request.number(start.known).number(start.exact ? 1 : 0);
  // the part of the stack above the stack pointer of `start`
  const std::uint64_t below = start.registers[kStackPointer] - sample.registers[kStackPointer];
  const std::size_t skipped = std::min<std::uint64_t>(below, sample.stack.size());
  request.text({reinterpret_cast<const char*>(sample.stack.data()) + skipped, sample.stack.size() - skipped});
  const auto answer = reader_->ask(ReadRequest::kUnwind, request);
  MessageReader in(answer);
  for (std::size_t left = in.count(3 * sizeof(std::uint64_t)); left > 0; --left) {
    const std::uint64_t address = in.number();
    const bool exact = in.number() != 0;
    const bool in_file = in.number() != 0;
    Start frame;
    if (!in_file) {
      frame.known = in.number();
      frame.registers[kStackPointer] = in.number();
      for (const int number : kKeptRegisters) frame.registers[static_cast<std::size_t>(number)] = in.number();
    }
    if (!in.intact()) return std::nullopt;
    unwound.addresses.push_back(address);
    unwound.exact.push_back(exact);
    if (unwound.addresses.size() >= kMostFrames) return std::nullopt;
    if (!exact && !in_file && is_trampoline(address)) return behind_trampoline(sample, frame);
  }
  return std::nullopt;
}

Unwinder::Unwound Unwinder::unwind(const PerfEvent& sample, std::uint64_t frame_pointer) {
  std::optional<Start> start({sample.registers, sample.few_registers ? 0 : (std::uint64_t{1} << kRegisters) - 1, true});
  start->set(kStackPointer, sample.registers[kStackPointer]);
  if (frame_pointer != 0) start->set(kFramePointer, frame_pointer);
  Unwound unwound;
  while (start && unwound.addresses.size() < kMostFrames) start = unwind_from(sample, *start, unwound);
  return unwound;
}

Unwinder::FrameRule Unwinder::frame_rule(std::uint64_t address) {
  const auto answer = reader_->ask(ReadRequest::kRule, MessageWriter().number(address));
  MessageReader in(answer);
  FrameRule rule;
  rule.by_frame_pointer = in.number() != 0;
  rule.outermost = in.number() != 0;
  return rule;
}

const Unwinder::Called& Unwinder::called_before(std::uint64_t address) {
  const auto [known, is_new] = called_.try_emplace(address);
  if (!is_new) return known->second;
  MessageWriter request;
  const std::size_t count = std::min(files_.size(), kMostFiles);
  request.number(address).number(count);
  for (std::size_t i = 0; i < count; ++i) request.number(files_[i]);
  const auto answer = reader_->ask(ReadRequest::kCalled, request);
  MessageReader in(answer);
  if (in.number() != 0) known->second = {printable(in.text()), printable(in.text()), in.number()};
  return known->second;
}

Stack Unwinder::frames(const PerfEvent& sample, const ReadMemory& read) {
  if (!sample.has_user) return {};
  open_files();
  Unwound unwound = unwind(sample, 0);
  if (sample.few_registers && read) unwound = find_frame_pointer(sample, read, std::move(unwound));
  if (unwound.addresses.empty()) {
    unwound.addresses.push_back(sample.registers[kProgramCounter]);
    unwound.exact.push_back(true);
  }
  Stack stack;
  const Called* called = nullptr;  ///< a hidden call made by the previous frame
  for (std::size_t i = unwound.addresses.size(); i-- > 0;) {
    Frame frame = name(unwound.addresses[i]);
    if (!unwound.exact[i]) {
      ++frame.address;
      frame.offset += frame.offset != 0 ? 1 : 0;
    }
    if (called != nullptr && called->address == function_start(unwound.addresses[i])) {
      frame.function = called->name;  // the name with which the call refers to the function
      frame.after.clear();
    } else if (called != nullptr) {
      stack.push_back({called->name, called->module});
    }
    called = unwound.exact[i] ? nullptr : &called_before(frame.address);
    if (called != nullptr && called->address == 0) called = nullptr;
    // The script function represents the trampoline's frame, so the loop below it is omitted.
    const bool interpreted = frame.script == Frame::Script::kInterpreted;
    if (interpreted && !stack.empty() && is_way_to_trampoline(stack.back())) stack.pop_back();
    const bool after = !stack.empty() && stack.back().script == Frame::Script::kInterpreted;
    if (after && is_loop(frame)) continue;
    stack.push_back(std::move(frame));
  }
  return stack;
}

/// Finds the frame pointer for a function whose caller is found only by the frame pointer. Needed if inner functions do
/// not store the register on the stack. The register's value is unknown, but it points to a pair of words: the caller's
/// frame pointer and the return address. The return address must follow a call to this very function. If it follows a
/// call by register instead, unwinding from there must reach the end of the stack.
Unwinder::Unwound Unwinder::find_frame_pointer(const PerfEvent& sample, const ReadMemory& read, Unwound found) {
  const auto rule = [this](const Unwound& unwound) {
    return unwound.addresses.empty() ? FrameRule{} : frame_rule(unwound.addresses.back());
  };
  if (found.addresses.empty() || !rule(found).by_frame_pointer) return found;
  const std::uint64_t start = function_start(found.addresses.back());
  const std::uint64_t stack_pointer = sample.registers[kStackPointer];
  const auto& stack = sample.stack;
  std::vector<std::uint64_t> by_register;
  for (std::size_t at = 0; at + 16 <= stack.size(); at += 8) {
    std::uint64_t back = 0;
    std::memcpy(&back, stack.data() + at + 8, sizeof back);
    if (mapping_of(back) == nullptr) continue;
    switch (call_before(back, start, read)) {
      case CallKind::kNone:
        break;
      case CallKind::kByRegister:
        if (by_register.size() < kMostCandidates) by_register.push_back(stack_pointer + at);
        break;
      case CallKind::kOfFunction: {
        Unwound more = unwind(sample, stack_pointer + at);
        if (more.addresses.size() > found.addresses.size()) return more;
        break;
      }
    }
  }
  for (const std::uint64_t candidate : by_register) {
    Unwound more = unwind(sample, candidate);
    if (more.addresses.size() > found.addresses.size() && rule(more).outermost) return more;
  }
  return found;
}

}  // namespace zerotax
