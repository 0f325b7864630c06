#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "base/names.h"
#include "base/printable.h"
#include "observe/file_reader.h"
#include "observe/symbols.h"
#include "observe/unwinder.h"
#include "os/processor.h"

namespace zerotax {
namespace {

bool is_file(const Unwinder::Mapping& mapping) {
  return !mapping.name.empty() && mapping.name[0] == '/' && !mapping.name.starts_with("//") &&
         !mapping.name.starts_with("/memfd:");
}

}  // namespace

const Unwinder::OpenedFile* Unwinder::opened_file(const Mapping* mapping) const {
  const auto found = mapping != nullptr ? opened_.find(mapping->begin) : opened_.end();
  return found != opened_.end() ? &found->second : nullptr;
}

const std::shared_ptr<PerfMap>& Unwinder::scripts() {
  if (!scripts_) scripts_ = std::make_shared<PerfMap>(static_cast<pid_t>(pid_));
  return scripts_;
}

const PerfMapNames::Entry* Unwinder::script(std::uint64_t address) {
  const Mapping* mapping = mapping_of(address);
  if (mapping != nullptr && is_file(*mapping)) return nullptr;
  return scripts()->find(address);
}

void Unwinder::note_scripts(ScriptNames& names) {
  for (const Mapping& mapping : mappings_) {
    if (interpreter_of(mapping.name).name.empty()) continue;
    scripts()->read();
    names.add(mapping.name, !scripts_->empty(), scripts_->problem());
  }
}

const Frame* Unwinder::name_again(std::uint64_t address) {
  const auto known = names_.find(address);
  if (known != names_.end()) return &known->second;
  const auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return nullptr;
  const auto& [begin, function] = *std::prev(after);
  if (address >= function.first) return nullptr;
  Frame& frame = names_.emplace(address, function.second).first->second;
  frame.address = address;
  frame.offset = address - begin;
  return &frame;
}

const Frame& Unwinder::name(std::uint64_t address) {
  if (const PerfMapNames::Entry* entry = script(address)) {
    script_frame_ = script_frame(entry->function);
    script_frame_.address = address;
    script_frame_.offset = address - entry->begin;
    return script_frame_;
  }
  if (const Frame* known = name_again(address)) return *known;
  Frame frame{fmt::format("{:#x}", address), "", address, 0};
  const Mapping* mapping = mapping_of(address);
  if (mapping != nullptr) {
    frame.module = printable(file_name(mapping->name));
    frame.function = fmt::format("{:#x}", address - mapping->begin + mapping->file_offset);
  }
  open_files();
  const OpenedFile* file = opened_file(mapping);
  const bool is_placed = file != nullptr && file->bias;
  if (is_placed && FileReader::shared().name_again(*file->file, address - *file->bias, frame)) {
    return names_.emplace(address, std::move(frame)).first->second;
  }
  const auto answer = reader_->ask(ReadRequest::kName, MessageWriter().number(address));
  MessageReader in(answer);
  const bool in_file = in.number() != 0;
  const bool is_numbered = in.number() != 0;
  const std::uint64_t bias = in.number();
  // this is the address that addr2line(1) and objdump(1) print
  if (is_numbered && mapping != nullptr) frame.function = fmt::format("{:#x}", address - bias);
  std::uint64_t bytes = 0;
  if (in.number() != 0) {
    frame.function = printable(in.text());
    frame.offset = in.number();
    bytes = in.number();
    if (bytes > frame.offset) functions_[address - frame.offset] = {address - frame.offset + bytes, frame};
  } else if (in_file && mapping != nullptr) {
    frame.after = printable(in.text());
    const CodeStart& start = code_start(address);
    const std::string own = libc_function(file != nullptr ? file->id : FileId{}, start.in_file);
    if (!own.empty()) {
      frame.function = own;
      frame.after.clear();
      frame.offset = address - start.in_memory;
    }
  }
  if (is_placed && is_numbered) FileReader::shared().keep_name(*file->file, address - *file->bias, frame, bytes);
  return names_.emplace(address, std::move(frame)).first->second;
}

const Unwinder::CodeStart& Unwinder::code_start(std::uint64_t address) {
  const auto [known, is_new] = starts_.try_emplace(address);
  if (!is_new) return known->second;
  open_files();
  const auto answer = reader_->ask(ReadRequest::kStart, MessageWriter().number(address));
  MessageReader in(answer);
  known->second.in_file = in.number();
  known->second.in_memory = in.number();
  return known->second;
}

std::uint64_t Unwinder::function_start(std::uint64_t address) {
  const Frame& frame = name(address);
  return frame.offset != 0 ? address - frame.offset : code_start(address).in_memory;
}

Fill Unwinder::fill(const PerfEvent& sample) {
  if (!sample.has_user || sample.few_registers) return Fill::kNone;
  const std::uint64_t address = sample.registers[kProgramCounter];
  const Frame& frame = name(address);
  if (frame.function.find("bzero") != std::string::npos) return Fill::kZeros;
  if (frame.function.find("memset") == std::string::npos) return Fill::kNone;
  const Mapping* mapping = mapping_of(address);
  if (mapping == nullptr) return Fill::kUnknown;
  const OpenedFile* file = opened_file(mapping);
  const bool ours = file != nullptr && !libc_function(file->id, code_start(address).in_file).empty();
  return ours && memset_keeps_its_value() ? fill_of_register(sample.registers[kSecondArgument]) : Fill::kUnknown;
}

}  // namespace zerotax
