#include "record/preload/frame_rules.h"

#include <dlfcn.h>

#include "record/preload/process.h"
#include "record/preload/real.h"

// Source: DWARF 5, section 6.4, and the Linux Standard Base Core Specification 5.0, sections 10.5 and 10.6, for
// .eh_frame and .eh_frame_hdr.

namespace zerotax::record {
namespace {

// Encodings of pointers (DW_EH_PE_*).
constexpr unsigned kOmitted = 0xff;
constexpr unsigned kRelative = 0x10;  ///< DW_EH_PE_pcrel: relative to the place of the number itself

/// The object whose tables are read. Memory outside this object must not be read.
struct Object {
  const unsigned char* begin;
  const unsigned char* end;
  const unsigned char* header;  ///< .eh_frame_hdr

  [[nodiscard]] bool has(const unsigned char* at) const { return at >= begin && at < end; }
  [[nodiscard]] ByteReader from(const unsigned char* at) const { return has(at) ? ByteReader(at, end) : ByteReader(); }
};

/// The part that is common to several functions (CIE).
struct Common {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  unsigned encoding = 0;
  bool is_signal_frame = false;
  bool has_augmentation = false;
  ByteReader program;
};

/// The part of one function (FDE).
struct Function {
  Common common;
  std::uint64_t begin = 0;
  ByteReader program;
};

std::uint64_t read_pointer(ByteReader& reader, unsigned encoding) {
  const auto place = reinterpret_cast<std::uint64_t>(reader.at());
  std::uint64_t value = 0;
  switch (encoding & 0x0f) {
    case 0x02:
      value = reader.number(2);
      break;
    case 0x03:
      value = reader.number(4);
      break;
    case 0x0a:
      value = static_cast<std::uint64_t>(reader.signed_number(2));
      break;
    case 0x0b:
      value = static_cast<std::uint64_t>(reader.signed_number(4));
      break;
    default:
      value = reader.number(8);
  }
  return (encoding & 0x70) == kRelative ? value + place : value;
}

/// The bytes of an entry after its length; empty if the entry ends the table, or is longer than 4 GiB.
ByteReader entry_at(const Object& object, const unsigned char* at) {
  ByteReader reader = object.from(at);
  const std::uint64_t length = reader.number(4);
  return length == 0xffff'ffff ? ByteReader() : reader.part(length);
}

bool read_common(ByteReader entry, Common& common) {
  if (entry.number(4) != 0) return false;
  const std::uint64_t version = entry.number(1);
  const auto* const augmentation = reinterpret_cast<const char*>(entry.at());
  std::size_t letters = 0;
  while (entry.number(1) != 0) ++letters;
  if (version == 4) entry.skip(2);
  common.code_factor = entry.leb();
  common.data_factor = entry.signed_leb();
  version == 1 ? entry.number(1) : entry.leb();  // the column of return addresses, which is always kReturnColumn
  if (entry.ended()) return false;
  if (letters > 0 && augmentation[0] == 'z') {
    common.has_augmentation = true;
    const std::uint64_t bytes = entry.leb();
    ByteReader data = entry.part(bytes);
    for (std::size_t i = 1; i < letters; ++i) {
      if (augmentation[i] == 'R') common.encoding = static_cast<unsigned>(data.number(1));
      if (augmentation[i] == 'L') data.number(1);
      if (augmentation[i] == 'S') common.is_signal_frame = true;
      if (augmentation[i] != 'P') continue;
      const auto personality = static_cast<unsigned>(data.number(1));
      if (personality != kOmitted) read_pointer(data, personality);
    }
  } else if (letters > 0) {
    return false;
  }
  common.program = entry;
  return !entry.ended();
}

/// Whether the function of the FDE at `at` contains `address`.
bool read_function(const Object& object, const unsigned char* at, std::uint64_t address, Function& function) {
  ByteReader entry = entry_at(object, at);
  const unsigned char* const place = entry.at();
  const std::uint64_t distance = entry.number(4);
  if (entry.ended() || distance == 0 || !object.has(place - distance)) return false;
  if (!read_common(entry_at(object, place - distance), function.common)) return false;
  const unsigned encoding = function.common.encoding;
  function.begin = read_pointer(entry, encoding);
  const std::uint64_t bytes = read_pointer(entry, encoding & 0x0f);
  if (function.common.has_augmentation) {
    const std::uint64_t more = entry.leb();
    entry.part(more);
  }
  function.program = entry;
  return !entry.ended() && address - function.begin < bytes;
}

bool find_object(std::uint64_t address, Object& object) {
  dl_find_object found{};
  if (real.find_object == nullptr || real.find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  object = {static_cast<unsigned char*>(found.dlfo_map_start), static_cast<unsigned char*>(found.dlfo_map_end),
            static_cast<unsigned char*>(found.dlfo_eh_frame)};
  return object.has(object.header);
}

/// Searches the linker's sorted table. An entry has two 32-bit distances from the start of .eh_frame_hdr: to a function
/// and to its FDE.
bool find_function(const Object& object, std::uint64_t address, Function& function) {
  constexpr std::uint64_t kSortedTable = 0x3b;
  constexpr std::uint64_t kCount = 0x03;
  ByteReader header = object.from(object.header);
  const bool known = header.number(1) == 1;
  const auto frames = static_cast<unsigned>(header.number(1));
  const bool sorted = header.number(1) == kCount && header.number(1) == kSortedTable;
  if (!known || !sorted || frames == kOmitted) return false;
  read_pointer(header, frames);
  const std::uint64_t count = header.number(4);
  if (header.ended() || count > header.left() / 8) return false;
  const auto base = reinterpret_cast<std::uint64_t>(object.header);
  const unsigned char* const table = header.at();
  const auto entry = [&](std::uint64_t index, std::size_t half) {
    ByteReader number(table + 8 * index + 4 * half, object.end);
    return base + static_cast<std::uint64_t>(number.signed_number(4));
  };
  std::uint64_t below = 0;  // number of functions known to begin at or before the address
  for (std::uint64_t above = count; below < above;) {
    const std::uint64_t middle = below + (above - below) / 2;
    entry(middle, 0) <= address ? below = middle + 1 : above = middle;
  }
  return below != 0 &&
         read_function(object, reinterpret_cast<const unsigned char*>(entry(below - 1, 1)), address, function);
}

/// Executes the call frame instructions of a function up to an address.
class Program {
 public:
  Program(const Common& common, FrameRules& rules) : common_(common), rules_(rules) {}

  bool run(ByteReader code, std::uint64_t from, std::uint64_t to) {
    location_ = from;
    while (code.left() > 0 && !code.ended() && known_) {
      const std::uint64_t byte = code.number(1);
      const std::uint64_t operand = byte & 0x3f;
      switch (byte >> 6) {
        case 1:
          location_ += operand * common_.code_factor;
          break;
        case 2:
          set(operand, {Rule::Kind::kAtOffset, 0, factored(code.leb()), {}});
          break;
        case 3:
          restore(operand);
          break;
        default:
          extended(byte, code);
      }
      if (location_ > to) return known_;
    }
    return known_ && !code.ended();
  }

  void keep_initial() { initial_ = rules_; }

 private:
  static constexpr std::size_t kDepth = 4;

  [[nodiscard]] std::int64_t factored(std::uint64_t number) const {
    return static_cast<std::int64_t>(number) * common_.data_factor;
  }
  void set(std::uint64_t number, const Rule& rule) {
    if (number < kRegisters) rules_.registers[number] = rule;
  }
  void restore(std::uint64_t number) {
    if (number < kRegisters) rules_.registers[number] = initial_.registers[number];
  }
  void set_cfa(std::uint64_t base, std::int64_t number) {
    known_ = known_ && base < kRegisters;
    rules_.cfa = {Rule::Kind::kOffset, static_cast<std::uint8_t>(base), number, {}};
  }
  static ByteReader expression(ByteReader& code) {
    const std::uint64_t bytes = code.leb();
    return code.part(bytes);
  }

  void extended(std::uint64_t byte, ByteReader& code) {
    using Kind = Rule::Kind;
    switch (byte) {
      case 0x00:  // nop
        return;
      case 0x01:
        location_ = read_pointer(code, common_.encoding);
        return;
      case 0x02:
      case 0x03:
        location_ += code.number(byte - 1) * common_.code_factor;
        return;
      case 0x04:
        location_ += code.number(4) * common_.code_factor;
        return;
      case 0x06:
        return restore(code.leb());
      case 0x0a:
        known_ = kept_ < kDepth;
        if (known_) states_[kept_++] = rules_;
        return;
      case 0x0b:
        known_ = kept_ > 0;
        if (known_) rules_ = states_[--kept_];
        return;
      case 0x0c:
      case 0x12: {
        const std::uint64_t base = code.leb();
        return set_cfa(base,
                       byte == 0x0c ? static_cast<std::int64_t>(code.leb()) : code.signed_leb() * common_.data_factor);
      }
      case 0x0d:
        return set_cfa(code.leb(), rules_.cfa.number);
      case 0x0e:
        return set_cfa(rules_.cfa.base, static_cast<std::int64_t>(code.leb()));
      case 0x13:
        return set_cfa(rules_.cfa.base, code.signed_leb() * common_.data_factor);
      case 0x0f:
        rules_.cfa = {Kind::kExpression, 0, 0, expression(code)};
        return;
      case 0x2d:  // on arm64, this instruction toggles whether the return address is signed
        rules_.is_signed = !rules_.is_signed;
        return;
      case 0x2e:  // The size of arguments is not needed.
        code.leb();
        return;
      default:
        of_register(byte, code);
    }
  }

  void of_register(std::uint64_t byte, ByteReader& code) {
    using Kind = Rule::Kind;
    const std::uint64_t number = code.leb();
    switch (byte) {
      case 0x05:
        return set(number, {Kind::kAtOffset, 0, factored(code.leb()), {}});
      case 0x07:
        return set(number, {Kind::kUndefined, 0, 0, {}});
      case 0x08:
        return set(number, {});
      case 0x09: {
        const std::uint64_t other = code.leb();
        known_ = other < kRegisters;
        return set(number, {Kind::kRegister, static_cast<std::uint8_t>(other), 0, {}});
      }
      case 0x10:
        return set(number, {Kind::kAtExpression, 0, 0, expression(code)});
      case 0x11:
        return set(number, {Kind::kAtOffset, 0, code.signed_leb() * common_.data_factor, {}});
      case 0x14:
        return set(number, {Kind::kOffset, 0, factored(code.leb()), {}});
      case 0x15:
        return set(number, {Kind::kOffset, 0, code.signed_leb() * common_.data_factor, {}});
      case 0x16:
        return set(number, {Kind::kExpression, 0, 0, expression(code)});
      case 0x2f:
        return set(number, {Kind::kAtOffset, 0, -factored(code.leb()), {}});
      default:
        known_ = false;
    }
  }

  const Common& common_;
  FrameRules& rules_;
  FrameRules initial_;
  FrameRules states_[kDepth];
  std::size_t kept_ = 0;
  std::uint64_t location_ = 0;
  bool known_ = true;
};

/// Returns the entry that may have the rules of an address, or nullptr.
KnownRules* known_rules_of(std::uint64_t address) {
  if (process == nullptr) return nullptr;
  KnownRules& known = process->known_rules[address * 0x9e3779b97f4a7c15 >> 32 & (kKnownRules - 1)];
  return have_pages(&known, sizeof known) ? &known : nullptr;
}

/// Copies the entry to `rules`, which must be empty, if the address and the tables match. The tables distinguish an
/// object from an unloaded object that was at the same place.
bool recall(KnownRules& known, std::uint64_t address, std::uint64_t tables, FrameRules& rules) {
  if (known.taken.exchange(1, std::memory_order_acquire) != 0) return false;
  const bool same = known.address == address && known.object == tables;
  if (same) {
    rules.cfa = {Rule::Kind::kOffset, known.cfa_base, known.cfa_number, {}};
    rules.is_signal_frame = known.is_signal_frame != 0;
    rules.is_signed = known.is_signed != 0;
    for (std::size_t i = 0; i < known.saved; ++i) {
      rules.registers[known.registers[i]] = {Rule::Kind::kAtOffset, 0, known.distances[i], {}};
    }
  }
  known.taken.store(0, std::memory_order_release);
  return same;
}

/// Keeps rules in an entry if the rules have the usual form.
void keep(KnownRules& known, std::uint64_t address, std::uint64_t tables, const FrameRules& rules) {
  if (rules.cfa.kind != Rule::Kind::kOffset || known.taken.exchange(1, std::memory_order_acquire) != 0) return;
  known.address = 0;
  known.saved = 0;
  known.cfa_base = rules.cfa.base;
  known.cfa_number = static_cast<std::int32_t>(rules.cfa.number);
  known.is_signal_frame = rules.is_signal_frame ? 1 : 0;
  known.is_signed = rules.is_signed ? 1 : 0;
  bool usual = known.cfa_number == rules.cfa.number;
  for (std::size_t number = 0; number < kRegisters && usual; ++number) {
    const Rule& rule = rules.registers[number];
    if (rule.kind == Rule::Kind::kSame) continue;
    usual = rule.kind == Rule::Kind::kAtOffset && known.saved < KnownRules::kMostSaved &&
            rule.number == static_cast<std::int32_t>(rule.number);
    if (!usual) break;
    known.registers[known.saved] = static_cast<std::uint8_t>(number);
    known.distances[known.saved++] = static_cast<std::int32_t>(rule.number);
  }
  if (usual) {
    known.object = tables;
    known.address = address;
  }
  known.taken.store(0, std::memory_order_release);
}

}  // namespace

bool has_frame_rules(std::uint64_t address) {
  Object object{};
  Function function;
  return find_object(address, object) && find_function(object, address, function);
}

bool find_frame_rules(std::uint64_t address, FrameRules& rules) {
  Object object{};
  if (!find_object(address, object)) return false;
  rules = FrameRules{};
  KnownRules* const known = known_rules_of(address);
  const auto tables = reinterpret_cast<std::uint64_t>(object.header);
  if (known != nullptr && recall(*known, address, tables, rules)) return true;
  Function function;
  if (!find_function(object, address, function)) return false;
  rules.is_signal_frame = function.common.is_signal_frame;
  Program program(function.common, rules);
  if (!program.run(function.common.program, function.begin, ~std::uint64_t{0})) return false;
  program.keep_initial();
  if (!program.run(function.program, function.begin, address)) return false;
  if (known != nullptr) keep(*known, address, tables, rules);
  return true;
}

}  // namespace zerotax::record
