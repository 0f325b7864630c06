#include "observe/unwinder.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <libelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>

#include "base/names.h"
#include "observe/call_instruction.h"
#include "observe/debug_files.h"
#include "observe/frame_information.h"
#include "os/elf_file.h"
#include "os/process_file.h"
#include "os/processor.h"

namespace zerotax {
namespace {

/// Deeper stacks are cut: what matters is near the top.
constexpr std::size_t kMostFrames = 192;
constexpr std::size_t kMostCandidates = 32;

constexpr Dwfl_Callbacks kCallbacks = {find_no_program, find_debug_file, nullptr, nullptr};

/// libdwfl unwinds by the rules of this file's machine, which is the process's, too. Of the process's own files, that
/// it would take otherwise, one may be dropped for another that is mapped in its place.
Elf* own_program() {
  static Elf* const program = [] {
    ::elf_version(EV_CURRENT);
    return ::elf_begin(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ELF_C_READ_MMAP, nullptr);
  }();
  return program;
}

/// The loop itself, and what decides between it and a trampoline: the function of the script stands for both.
bool is_loop(const Frame& frame) { return frame.function.starts_with("_PyEval_EvalFrameDefault"); }
bool is_way_to_trampoline(const Frame& frame) { return frame.function.starts_with("py_trampoline_evaluator"); }

}  // namespace

/// Where unwinding begins: the sample's registers, or those that are known of a frame further out.
struct Unwinder::Start {
  Registers registers{};
  std::uint64_t known = 0;  ///< a bit for each register
  bool exact = true;        ///< the program counter is that of an instruction, not one less than a return address

  void set(int number, std::uint64_t value) {
    registers[static_cast<std::size_t>(number)] = value;
    known |= std::uint64_t{1} << number;
  }
};

struct Unwinder::Session {
  Dwfl* dwfl = nullptr;
  std::deque<FileOrigin> origins;  ///< of its modules
  bool attached = false;
  Start start;
  std::optional<Start> next;  ///< behind a frame that has no call frame information
  std::function<bool(std::uint64_t)> is_trampoline;
  const PerfEvent* sample = nullptr;     ///< that is being unwound
  std::vector<std::uint64_t> addresses;  ///< innermost first
  std::vector<bool> exact;               ///< not one less than a return address

  Session() : dwfl(::dwfl_begin(&kCallbacks)) {}
  ~Session() {
    if (dwfl != nullptr) ::dwfl_end(dwfl);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool attach(std::uint32_t pid) {
    static constexpr Dwfl_Thread_Callbacks kThreads = {next_thread,   nullptr, read_memory,
                                                       set_registers, nullptr, nullptr};
    if (!attached) attached = ::dwfl_attach_state(dwfl, own_program(), static_cast<pid_t>(pid), &kThreads, this);
    return attached;
  }

  // There is one thread at a time: the one of the sample. It goes by the number of the process.
  static pid_t next_thread(Dwfl* dwfl, void* argument, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = argument;
    return ::dwfl_pid(dwfl);
  }

  static bool read_memory(Dwfl* /*dwfl*/, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
    const PerfEvent& sample = *static_cast<Session*>(argument)->sample;
    const std::uint64_t begin = sample.registers[kStackPointer];
    if (address < begin || address - begin + sizeof *word > sample.stack.size()) return false;
    std::memcpy(word, sample.stack.data() + (address - begin), sizeof *word);
    return true;
  }

  static bool set_registers(Dwfl_Thread* thread, void* argument) {
    const Start& start = static_cast<Session*>(argument)->start;
    ::dwfl_thread_state_register_pc(thread, start.registers[kProgramCounter]);
    for (int i = 0; i < static_cast<int>(start.registers.size()); ++i) {
      if ((start.known >> i & 1) == 0) continue;
      if (!::dwfl_thread_state_registers(thread, i, 1, &start.registers[static_cast<std::size_t>(i)])) return false;
    }
    return true;
  }

  static int on_frame(Dwfl_Frame* frame, void* argument) {
    auto& session = *static_cast<Session*>(argument);
    Dwarf_Addr address = 0;
    bool exact = false;
    if (!::dwfl_frame_pc(frame, &address, &exact)) return DWARF_CB_ABORT;
    // The first frame of another start is a caller's, too.
    const bool caller_given = exact && !session.start.exact;
    session.start.exact = true;
    // A return address may be that of the next function: the call is before it.
    session.addresses.push_back(exact ? address : address - 1);
    session.exact.push_back(exact && !caller_given);
    if (session.addresses.size() >= kMostFrames) return DWARF_CB_ABORT;
    if (session.exact.back() || !session.is_trampoline(session.addresses.back())) return DWARF_CB_OK;
    session.next = session.behind_trampoline(frame);
    return DWARF_CB_ABORT;
  }

  /// CPython's trampoline calls the interpreter's loop with two words on the stack: the upper one is the address that
  /// it returns to, and the lower one is padding, or its caller's frame pointer where it keeps one
  /// (Python/asm_trampoline.S: "sub $8, %rsp", or "push %rbp; mov %rsp, %rbp"; "stp x29, x30, [sp, -16]!"). It has no
  /// call frame information.
  std::optional<Start> behind_trampoline(Dwfl_Frame* frame) {
    Start behind;
    Dwarf_Word value = 0;
    for (const int number : kKeptRegisters) {
      if (::dwfl_frame_reg(frame, static_cast<unsigned>(number), &value) == 0) behind.set(number, value);
    }
    Dwarf_Word stack = 0;
    Dwarf_Word back = 0;
    if (::dwfl_frame_reg(frame, kStackPointer, &stack) != 0) return std::nullopt;
    if (!read_memory(dwfl, stack + 8, &back, this) || back == 0) return std::nullopt;
    const bool keeps = (behind.known >> kFramePointer & 1) != 0 && behind.registers[kFramePointer] == stack;
    if (keeps && read_memory(dwfl, stack, &value, this)) behind.set(kFramePointer, value);
    behind.set(kStackPointer, stack + 16);
    behind.set(kProgramCounter, back - 1);
    behind.exact = false;
    return behind;
  }
};

Unwinder::Unwinder(std::uint32_t pid, std::shared_ptr<PerfMap> scripts) : pid_(pid), scripts_(std::move(scripts)) {}

Unwinder::Unwinder(std::uint32_t pid, Unwinder& parent)
    : pid_(pid), scripts_(std::make_shared<PerfMap>(static_cast<pid_t>(pid), parent.scripts())) {
  for (const Mapping& mapping : parent.mappings_) map(mapping);
}

Unwinder::~Unwinder() = default;

void Unwinder::map(const Mapping& mapping) {
  // What is mapped over something replaces it.
  std::erase_if(mappings_, [&](const Mapping& old) { return old.begin < mapping.end && mapping.begin < old.end; });
  mappings_.push_back(mapping);
  names_.clear();
  functions_.clear();
  hidden_calls_.forget();
  files_.clear();
  for (const Mapping& each : mappings_) files_.push_back(each.begin);
  ++changes_;
  if (!mapping.name.empty() && mapping.name[0] == '/') new_files_.push_back(mapping);
}

Dwfl* Unwinder::opened() { return session().dwfl; }

Unwinder::Session& Unwinder::session() {
  if (!session_) {
    // libdebuginfod would be asked otherwise: what is shown must not depend on a server.
    ::unsetenv("DEBUGINFOD_URLS");
    session_ = std::make_unique<Session>();
  }
  if (!new_files_.empty()) {
    ::dwfl_report_begin_add(session_->dwfl);
    for (const Mapping& file : new_files_) {
      const auto pid = static_cast<pid_t>(pid_);
      UniqueFd opened = file.path.empty()
                            ? open_mapped_file(pid, {file.begin, file.end, file.name, file.inode, file.device})
                            : open_program_file(file.path);
      if (!opened) continue;
      const std::string itself = fmt::format("/proc/self/fd/{}", opened.get());
      const std::optional<std::uint64_t> bias = ElfFile(itself).load_bias(file.begin, file.file_offset);
      if (!bias) continue;
      // libdwfl takes a file that is reported again for another one at the same place, and drops both.
      if (!reported_.emplace(fmt::format("{} {}", file.inode, file.name), *bias).second) continue;
      const FileId id = file_id(opened.get());
      ids_[{file.inode, file.name}] = id;
      Dwfl_Module* module =
          ::dwfl_report_elf(session_->dwfl, file_name(file.name).c_str(), file.name.c_str(), opened.get(), *bias, true);
      if (module == nullptr) continue;
      static_cast<void>(opened.release());  // it closes the file
      set_origin(module, session_->origins.emplace_back(FileOrigin{pid, file.name, id}));
    }
    ::dwfl_report_end(session_->dwfl, nullptr, nullptr);
    new_files_.clear();
  }
  return *session_;
}

const Unwinder::Mapping* Unwinder::mapping_of(std::uint64_t address) const {
  const auto found = std::find_if(mappings_.begin(), mappings_.end(),
                                  [&](const Mapping& each) { return address >= each.begin && address < each.end; });
  return found != mappings_.end() ? &*found : nullptr;
}

void Unwinder::unwind(Session& session, std::uint64_t frame_pointer) {
  session.addresses.clear();
  session.exact.clear();
  const PerfEvent& sample = *session.sample;
  session.start = {sample.registers, sample.few_registers ? 0 : (std::uint64_t{1} << kRegisters) - 1, true};
  session.start.set(kStackPointer, sample.registers[kStackPointer]);
  if (frame_pointer != 0) session.start.set(kFramePointer, frame_pointer);
  session.is_trampoline = [this](std::uint64_t address) {
    const PerfMapNames::Entry* entry = script(address);
    return entry != nullptr && entry->function.trampoline;
  };
  if (!session.attach(pid_)) return;
  do {
    if (session.next) session.start = *session.next;
    session.next.reset();
    ::dwfl_getthread_frames(session.dwfl, static_cast<pid_t>(pid_), Session::on_frame, &session);
  } while (session.next && session.addresses.size() < kMostFrames);
  session.next.reset();
}

Stack Unwinder::frames(const PerfEvent& sample, const ReadMemory& read) {
  if (!sample.has_user) return {};
  Session& session = this->session();
  session.sample = &sample;
  unwind(session, 0);
  if (sample.few_registers && read) find_frame_pointer(session, read);
  if (session.addresses.empty()) {
    session.addresses.push_back(sample.registers[kProgramCounter]);
    session.exact.push_back(true);
  }
  Stack stack;
  const HiddenCalls::Target* called = nullptr;  ///< by the frame before
  for (std::size_t i = session.addresses.size(); i-- > 0;) {
    Frame frame = name(session.addresses[i]);
    if (!session.exact[i]) {
      ++frame.address;
      frame.offset += frame.offset != 0 ? 1 : 0;
    }
    if (called != nullptr && called->address == function_start(session.addresses[i])) {
      frame.function = called->name;  // of its names, the one that it was called by
    } else if (called != nullptr) {
      stack.push_back({called->name, called->module});
    }
    called = session.exact[i] ? nullptr : hidden_calls_.called_before(session.dwfl, frame.address, files_);
    // A script's function is where its trampoline is, and the loop that runs it is no more of it.
    const bool interpreted = frame.script == Frame::Script::kInterpreted;
    if (interpreted && !stack.empty() && is_way_to_trampoline(stack.back())) stack.pop_back();
    const bool after = !stack.empty() && stack.back().script == Frame::Script::kInterpreted;
    if (after && is_loop(frame)) continue;
    stack.push_back(std::move(frame));
  }
  return stack;
}

/// Code whose frame is found by the frame pointer alone, above code that does not keep it on the stack: the register is
/// where it was, and points to a pair of words, the caller's frame pointer and the address that the function returns
/// to. That address is behind a call, of this very function; or the call is by a register, and then what is found must
/// lead to the end of the stack.
void Unwinder::find_frame_pointer(Session& session, const ReadMemory& read) {
  const auto rule = [&] {
    const std::uint64_t outermost = session.addresses.empty() ? 0 : session.addresses.back();
    return frame_rule(::dwfl_addrmodule(session.dwfl, outermost), outermost);
  };
  if (session.addresses.empty() || !rule().by_frame_pointer) return;
  const std::vector<std::uint64_t> addresses = session.addresses;
  const std::vector<bool> exact = session.exact;
  const std::uint64_t start = function_start(addresses.back());
  const std::uint64_t stack_pointer = session.sample->registers[kStackPointer];
  const auto& stack = session.sample->stack;
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
      case CallKind::kOfFunction:
        unwind(session, stack_pointer + at);
        if (session.addresses.size() > addresses.size()) return;
        break;
    }
  }
  for (const std::uint64_t candidate : by_register) {
    unwind(session, candidate);
    if (session.addresses.size() > addresses.size() && rule().outermost) return;
  }
  session.addresses = addresses;
  session.exact = exact;
}

}  // namespace zerotax
