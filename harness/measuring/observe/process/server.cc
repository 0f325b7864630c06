#include "observe/process/server.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "observe/file_reader_messages.h"
#include "observe/process/debug_files.h"
#include "observe/process/frame_information.h"
#include "os/elf_file.h"

namespace zerotax {
namespace {

/// Maximum length of a name, longer than any name from a C++ compiler. Names are cut to this length, so that an answer
/// fits into a message.
constexpr std::size_t kLongestName = std::size_t{16} * 1024;

int no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

constexpr Dwfl_Callbacks kMapped = {no_elf, find_debug_file, nullptr, nullptr};
constexpr Dwfl_Callbacks kNotMapped = {no_elf, find_debug_file, dwfl_offline_section_address, nullptr};

/// libdwfl unwinds by the rules of this file's machine, which is also the machine of the watched process. By default
/// libdwfl would use one of the process's files, and a new mapping may replace that file.
Elf* own_program() {
  static Elf* const program = [] {
    ::elf_version(EV_CURRENT);
    return ::elf_begin(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ELF_C_READ_MMAP, nullptr);
  }();
  return program;
}

std::string_view cut(std::string_view name) { return name.substr(0, kLongestName); }

/// Maximum number of functions in an answer. No library has that many matching functions.
constexpr std::size_t kMostFunctions = 256;
constexpr std::size_t kMostSegments = 1024;
constexpr std::size_t kLongestFunction = 256;

void headers(const ElfFile& file, MessageWriter& out) {
  const auto& head = file.header();
  out.number(head && head->e_ident[EI_CLASS] == ELFCLASS64 ? head->e_machine : 0);
  const auto& segments = file.segments();
  const std::size_t count = segments ? std::min(segments->size(), kMostSegments) : 0;
  out.number(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.text({reinterpret_cast<const char*>(&(*segments)[i]), sizeof(GElf_Phdr)});
  }
  out.text(file.build_id().substr(0, kLongestFunction));
}

void functions(const ElfFile& file, MessageReader& in, MessageWriter& out) {
  std::vector<std::string> words(in.count(1));
  for (std::string& word : words) word = in.text();
  std::vector<ElfFile::Function> found;
  for (const ElfFile::Function& each : file.functions()) {
    const bool asked = std::any_of(words.begin(), words.end(),
                                   [&](const std::string& word) { return each.name.find(word) != std::string::npos; });
    if (asked && each.name.size() <= kLongestFunction && found.size() < kMostFunctions) found.push_back(each);
  }
  out.number(found.size());
  for (const ElfFile::Function& each : found) out.text(each.name).number(each.address).number(each.file_offset);
}

}  // namespace

void prepare_unwinding() { own_program(); }

ReadSession::~ReadSession() {
  if (dwfl_ != nullptr) ::dwfl_end(dwfl_);
}

void ReadSession::begin(const Dwfl_Callbacks& callbacks) {
  if (dwfl_ == nullptr) dwfl_ = ::dwfl_begin(&callbacks);
}

Dwfl_Module* ReadSession::module_at(std::uint64_t address) {
  Dwfl_Module* module = dwfl_ != nullptr ? ::dwfl_addrmodule(dwfl_, address) : nullptr;
  current_ = module != nullptr ? file_number(module) : 0;
  return module;
}

void ReadSession::map(MessageReader& in, UniqueFd file, MessageWriter& out) {
  const std::string name(in.text());
  const std::string path(in.text());
  const std::uint64_t where = in.number();
  const std::uint64_t offset = in.number();
  const std::optional<std::uint64_t> bias = ElfFile(UniqueFd(::dup(file.get()))).load_bias(where, offset);
  begin(kMapped);
  if (!bias) {
    out.number(0);
    return;
  }
  // If a file is reported twice, libdwfl treats the second report as a different file at the same address, and drops
  // both.
  if (!mapped_.emplace(current_.load(), *bias).second) {
    out.number(1).number(*bias);
    return;
  }
  ::dwfl_report_begin_add(dwfl_);
  // libdwfl searches for debug information beside this path. If libdwfl accepts the file, libdwfl also closes it.
  Dwfl_Module* module = ::dwfl_report_elf(dwfl_, name.c_str(), path.c_str(), file.get(), *bias, true);
  if (module != nullptr) {
    static_cast<void>(file.release());
    set_file_number(module, current_);
  }
  ::dwfl_report_end(dwfl_, nullptr, nullptr);
  out.number(module != nullptr ? 1 : 0).number(*bias);
}

void ReadSession::open(MessageReader& in, UniqueFd file, MessageWriter& out) {
  const std::string path(in.text());
  begin(kNotMapped);
  ::dwfl_report_begin_add(dwfl_);
  file_ = ::dwfl_report_offline(dwfl_, path.c_str(), path.c_str(), file.get());
  if (file_ != nullptr) {
    static_cast<void>(file.release());
    set_file_number(file_, current_);
  }
  ::dwfl_report_end(dwfl_, nullptr, nullptr);
  GElf_Addr bias = 0;
  if (file_ == nullptr || ::dwfl_module_getelf(file_, &bias) == nullptr) {
    file_ = nullptr;
    out.number(0);
    return;
  }
  bias_ = bias;
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int length = ::dwfl_module_build_id(file_, &bits, &where);
  out.number(1).text(length > 0 ? cut({reinterpret_cast<const char*>(bits), static_cast<std::size_t>(length)}) : "");
}

// A session has one thread, the thread of the sample. The thread's ID is the process's ID.
pid_t ReadSession::next_thread(Dwfl* dwfl, void* argument, void** thread) {
  if (*thread != nullptr) return 0;
  *thread = argument;
  return ::dwfl_pid(dwfl);
}

bool ReadSession::read_memory(Dwfl* /*dwfl*/, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
  const auto& session = *static_cast<ReadSession*>(argument);
  const std::uint64_t begin = session.registers_[kStackPointer];
  const std::size_t bytes = session.stack_.size();
  if (bytes < sizeof *word || address < begin || address - begin > bytes - sizeof *word) return false;
  std::memcpy(word, session.stack_.data() + (address - begin), sizeof *word);
  return true;
}

bool ReadSession::set_registers(Dwfl_Thread* thread, void* argument) {
  auto& session = *static_cast<ReadSession*>(argument);
  ::dwfl_thread_state_register_pc(thread, session.registers_[kProgramCounter]);
  for (int i = 0; i < static_cast<int>(session.registers_.size()); ++i) {
    if ((session.known_ >> i & 1) == 0) continue;
    if (!::dwfl_thread_state_registers(thread, i, 1, &session.registers_[static_cast<std::size_t>(i)])) return false;
  }
  return true;
}

int ReadSession::on_frame(Dwfl_Frame* frame, void* argument) {
  auto& session = *static_cast<ReadSession*>(argument);
  Dwarf_Addr address = 0;
  bool exact = false;
  if (!::dwfl_frame_pc(frame, &address, &exact)) return DWARF_CB_ABORT;
  // If unwinding starts at a caller, the address of the first frame is a return address.
  const bool caller_given = exact && !session.exact_;
  session.exact_ = true;
  Frame found;
  // A return address may belong to the next function; the byte before it belongs to the call instruction.
  found.address = exact ? address : address - 1;
  found.exact = exact && !caller_given;
  // The next step reads the file of this address to find the caller.
  found.in_file = session.module_at(found.address) != nullptr;
  const auto keep = [&](int number) {
    Dwarf_Word value = 0;
    if (::dwfl_frame_reg(frame, static_cast<unsigned>(number), &value) != 0) return;
    found.registers[static_cast<std::size_t>(number)] = value;
    found.known |= std::uint64_t{1} << number;
  };
  if (!found.in_file) {
    for (const int number : kKeptRegisters) keep(number);
    keep(kStackPointer);
  }
  session.frames_.push_back(found);
  return session.frames_.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void ReadSession::unwind(MessageReader& in, MessageWriter& out) {
  for (std::uint64_t& each : registers_) each = in.number();
  known_ = in.number();
  exact_ = in.number() != 0;
  stack_ = in.text();
  frames_.clear();
  static constexpr Dwfl_Thread_Callbacks kThreads = {next_thread,   nullptr, read_memory,
                                                     set_registers, nullptr, nullptr};
  begin(kMapped);
  constexpr pid_t kProcess = 1;  // an arbitrary number, because libdwfl reads nothing from the process itself
  if (!attached_) attached_ = ::dwfl_attach_state(dwfl_, own_program(), kProcess, &kThreads, this);
  if (in.intact() && attached_) {
    module_at(registers_[kProgramCounter]);
    ::dwfl_getthread_frames(dwfl_, kProcess, on_frame, this);
  }
  stack_ = {};
  out.number(frames_.size());
  for (const Frame& each : frames_) {
    out.number(each.address).number(each.exact ? 1 : 0).number(each.in_file ? 1 : 0);
    if (each.in_file) continue;
    out.number(each.known).number(each.registers[kStackPointer]);
    for (const int number : kKeptRegisters) out.number(each.registers[static_cast<std::size_t>(number)]);
  }
}

void ReadSession::name(MessageReader& in, MessageWriter& out) {
  const std::uint64_t address = in.number();
  Dwfl_Module* module = module_at(address);
  GElf_Addr bias = 0;
  const bool has_file = module != nullptr && ::dwfl_module_getelf(module, &bias) != nullptr;
  GElf_Off offset = 0;
  GElf_Sym entry{};
  const char* symbol = symbol_at(module, address, offset, entry);
  out.number(module != nullptr ? 1 : 0).number(has_file ? 1 : 0).number(bias).number(symbol != nullptr ? 1 : 0);
  if (symbol != nullptr) {
    out.text(cut(demangled(symbol))).number(offset).number(entry.st_size);
  } else {
    out.text(has_file ? cut(exported_.before(module, address, current_)) : "");
  }
}

void ReadSession::start(MessageReader& in, MessageWriter& out) {
  const std::uint64_t address = in.number();
  Dwfl_Module* module = module_at(address);
  const CodeStart start = module != nullptr ? code_start(module, address) : CodeStart{};
  out.number(start.in_file).number(start.in_memory);
}

void ReadSession::rule(MessageReader& in, MessageWriter& out) {
  const std::uint64_t address = in.number();
  const FrameRule rule = frame_rule(module_at(address), address);
  out.number(rule.by_frame_pointer ? 1 : 0).number(rule.outermost ? 1 : 0);
}

void ReadSession::called(MessageReader& in, MessageWriter& out) {
  const std::uint64_t address = in.number();
  std::vector<std::uint64_t> files(in.count(sizeof(std::uint64_t)));
  for (std::uint64_t& each : files) each = in.number();
  const HiddenCalls::Target* target =
      hidden_calls_.called_before([this](std::uint64_t at) { return module_at(at); }, address, files);
  out.number(target != nullptr ? 1 : 0);
  if (target != nullptr) out.text(target->name).text(cut(target->module)).number(target->address);
}

void ReadSession::place(MessageReader& in, MessageWriter& out) {
  const GElf_Addr place = in.number() + bias_;
  current_ = file_ != nullptr ? file_number(file_) : 0;
  GElf_Off offset = 0;
  GElf_Sym entry{};
  const char* name = symbol_at(file_, place, offset, entry);
  out.number(name != nullptr ? 1 : 0);
  out.text(name != nullptr    ? cut(demangled(name))
           : file_ != nullptr ? cut(exported_.before(file_, place, current_))
                              : "");
  Dwfl_Line* found = file_ != nullptr ? ::dwfl_module_getsrc(file_, place) : nullptr;
  int line = 0;
  const char* source = found != nullptr ? ::dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr) : nullptr;
  out.number(source != nullptr ? 1 : 0);
  if (source != nullptr) out.text(cut(source)).number(static_cast<std::uint64_t>(line));
}

std::uint64_t size_of(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t ReadServer::file_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, session] : sessions_) bytes += session->file_bytes;
  return bytes;
}

MessageWriter ReadServer::answer(std::string_view request, UniqueFd file) {
  MessageReader in(request);
  MessageWriter out;
  out.number(static_cast<std::uint64_t>(ReadAnswer::kDone));
  const auto what = static_cast<ReadRequest>(in.number());
  const std::uint64_t number = in.number();
  current_ = static_cast<std::uint32_t>(in.number());
  if (!in.intact()) return out;
  if (what == ReadRequest::kEnd) {
    sessions_.erase(number);
    return out;
  }
  if (what == ReadRequest::kHeaders || what == ReadRequest::kFunctions) {
    const ElfFile program(std::move(file));
    what == ReadRequest::kHeaders ? headers(program, out) : functions(program, in, out);
    return out;
  }
  std::unique_ptr<ReadSession>& session = sessions_[number];
  if (!session) session = std::make_unique<ReadSession>(current_);
  answered_ = session.get();
  if (file) session->file_bytes += size_of(file.get());
  switch (what) {
    case ReadRequest::kMap:
      session->map(in, std::move(file), out);
      break;
    case ReadRequest::kOpen:
      session->open(in, std::move(file), out);
      break;
    case ReadRequest::kUnwind:
      session->unwind(in, out);
      break;
    case ReadRequest::kName:
      session->name(in, out);
      break;
    case ReadRequest::kStart:
      session->start(in, out);
      break;
    case ReadRequest::kRule:
      session->rule(in, out);
      break;
    case ReadRequest::kCalled:
      session->called(in, out);
      break;
    case ReadRequest::kPlace:
      session->place(in, out);
      break;
    default:
      break;
  }
  return out;
}

}  // namespace zerotax
