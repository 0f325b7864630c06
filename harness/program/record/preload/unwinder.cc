#include "record/preload/unwinder.h"

#include <iterator>

namespace zerotax::record {
namespace {

/// The stack of a DWARF expression (DWARF 5, section 2.5.1).
class Operands {
 public:
  void push(std::uint64_t value) {
    failed_ = failed_ || depth_ == kMost;
    if (!failed_) values_[depth_++] = value;
  }
  std::uint64_t pop() {
    failed_ = failed_ || depth_ == 0;
    return failed_ ? 0 : values_[--depth_];
  }
  /// Returns the operand that has `others` operands above it.
  [[nodiscard]] std::uint64_t below(std::uint64_t others) {
    failed_ = failed_ || others >= depth_;
    return failed_ ? 0 : values_[depth_ - 1 - others];
  }
  void fail() { failed_ = true; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  static constexpr std::size_t kMost = 16;
  std::uint64_t values_[kMost];
  std::size_t depth_ = 0;
  bool failed_ = false;
};

/// Returns the result of an operation with two operands.
std::uint64_t combine(std::uint64_t operation, std::uint64_t a, std::uint64_t b, Operands& operands) {
  const auto sa = static_cast<std::int64_t>(a);
  const auto sb = static_cast<std::int64_t>(b);
  const bool small = b < 64;
  switch (operation) {
    case 0x1a:
      return a & b;
    case 0x1c:
      return a - b;
    case 0x1e:
      return a * b;
    case 0x21:
      return a | b;
    case 0x22:
      return a + b;
    case 0x24:
      return small ? a << b : 0;
    case 0x25:
      return small ? a >> b : 0;
    case 0x26:
      return static_cast<std::uint64_t>(sa >> (small ? b : 63));
    case 0x27:
      return a ^ b;
    case 0x29:
      return sa == sb ? 1 : 0;
    case 0x2a:
      return sa >= sb ? 1 : 0;
    case 0x2b:
      return sa > sb ? 1 : 0;
    case 0x2c:
      return sa <= sb ? 1 : 0;
    case 0x2d:
      return sa < sb ? 1 : 0;
    case 0x2e:
      return sa != sb ? 1 : 0;
    default:
      operands.fail();
      return 0;
  }
}

/// Pushes the constant of a push operation, which follows the operation in the code. Returns false for any other
/// operation.
bool push_constant(std::uint64_t operation, ByteReader& code, Operands& operands) {
  if (operation >= 0x30 && operation <= 0x4f) {
    operands.push(operation - 0x30);
  } else if (operation >= 0x08 && operation <= 0x0f) {
    const std::size_t bytes = std::size_t{1} << (operation - 0x08) / 2;
    operands.push(operation % 2 == 0 ? code.number(bytes) : static_cast<std::uint64_t>(code.signed_number(bytes)));
  } else if (operation == 0x10) {
    operands.push(code.leb());
  } else if (operation == 0x11) {
    operands.push(static_cast<std::uint64_t>(code.signed_leb()));
  } else {
    return false;
  }
  return true;
}

/// Executes an operation that needs nothing but the stack. Returns false for any other operation.
bool change_stack(std::uint64_t operation, ByteReader& code, Operands& operands) {
  switch (operation) {
    case 0x12:  // dup
      operands.push(operands.below(0));
      return true;
    case 0x13:  // drop
      operands.pop();
      return true;
    case 0x14:  // over
      operands.push(operands.below(1));
      return true;
    case 0x15:  // pick
      operands.push(operands.below(code.number(1)));
      return true;
    case 0x16: {  // swap
      const std::uint64_t last = operands.pop();
      const std::uint64_t before = operands.pop();
      operands.push(last);
      operands.push(before);
      return true;
    }
    case 0x1f:  // neg
      operands.push(0 - operands.pop());
      return true;
    case 0x20:  // not
      operands.push(~operands.pop());
      return true;
    case 0x23:  // plus_uconst
      operands.push(operands.pop() + code.leb());
      return true;
    default:
      return false;
  }
}

}  // namespace

Unwinder::Unwinder(const EntryRegisters& entry) : memory_(entry.stack_pointer) {
  const auto set = [&](std::size_t number, std::uint64_t value) {
    registers_[number] = value;
    known_ |= std::uint64_t{1} << number;
  };
  for (std::size_t i = 0; i < std::size(kKeptRegisters); ++i) {
    set(static_cast<std::size_t>(kKeptRegisters[i]), entry.kept[i]);
  }
  set(kStackPointer, entry.stack_pointer);
  set(kProgramCounter, entry.return_address);
}

bool Unwinder::evaluate(ByteReader code, std::uint64_t cfa, bool has_cfa, std::uint64_t& value) {
  Operands operands;
  if (has_cfa) operands.push(cfa);
  while (code.left() > 0 && !operands.failed()) {
    const std::uint64_t operation = code.number(1);
    if (push_constant(operation, code, operands) || change_stack(operation, code, operands)) continue;
    if (operation >= 0x70 && operation <= 0x8f) {  // breg0 to breg31
      const std::uint64_t number = operation - 0x70;
      const auto distance = static_cast<std::uint64_t>(code.signed_leb());
      if (!is_known(number)) return false;
      operands.push(registers_[number] + distance);
      continue;
    }
    switch (operation) {
      case 0x06: {  // deref
        std::uint64_t word = 0;
        if (!memory_.read(operands.pop(), word)) return false;
        operands.push(word);
        break;
      }
      case 0x28: {  // bra, forward only, so that each expression ends
        const std::int64_t distance = code.signed_number(2);
        if (operands.pop() != 0) code.skip(distance);
        break;
      }
      case 0x2f:  // skip
        code.skip(code.signed_number(2));
        break;
      case 0x96:  // nop
        break;
      default: {
        const std::uint64_t second = operands.pop();
        const std::uint64_t first = operands.pop();
        operands.push(combine(operation, first, second, operands));
      }
    }
  }
  value = operands.pop();
  return !operands.failed() && !code.ended();
}

bool Unwinder::find(const Rule& rule, std::uint64_t cfa, bool has_cfa, std::uint64_t& value) {
  switch (rule.kind) {
    case Rule::Kind::kAtOffset:
      return memory_.read(cfa + static_cast<std::uint64_t>(rule.number), value);
    case Rule::Kind::kOffset:
      value = cfa + static_cast<std::uint64_t>(rule.number);
      return true;
    case Rule::Kind::kRegister:
      value = is_known(rule.base) ? registers_[rule.base] : 0;
      return is_known(rule.base);
    case Rule::Kind::kExpression:
      return evaluate(rule.expression, cfa, has_cfa, value);
    case Rule::Kind::kAtExpression:
      return evaluate(rule.expression, cfa, has_cfa, value) && memory_.read(value, value);
    case Rule::Kind::kSame:
    case Rule::Kind::kUndefined:
      break;
  }
  return false;
}

bool Unwinder::step() {
  FrameRules rules;
  memory_.move_to(stack_pointer());
  if (!find_frame_rules(call_address(), rules)) return false;
  std::uint64_t cfa = 0;
  if (rules.cfa.kind == Rule::Kind::kOffset) {
    if (!is_known(rules.cfa.base)) return false;
    cfa = registers_[rules.cfa.base] + static_cast<std::uint64_t>(rules.cfa.number);
  } else if (!find(rules.cfa, 0, false, cfa)) {
    return false;
  }
  // A caller's frame lies at higher addresses, except that an interrupted function may be on another stack.
  if (!rules.is_signal_frame && !memory_.reaches(cfa)) return false;
  const Rule& back = rules.registers[kReturnColumn];
  is_whole_ = back.kind == Rule::Kind::kUndefined;
  if (is_whole_) return false;

  Registers caller = registers_;
  std::uint64_t known = 0;
  for (std::size_t number = 0; number < kRegisters; ++number) {
    const Rule& rule = rules.registers[number];
    const bool same = rule.kind == Rule::Kind::kSame && is_known(number);
    if (same || find(rule, cfa, true, caller[number])) known |= std::uint64_t{1} << number;
  }
  std::uint64_t return_address = caller[kReturnColumn];
  if ((known >> kReturnColumn & 1) == 0) return false;
  // A program's addresses have at most 48 bits. The higher bits contain the authentication code.
  if (rules.is_signed) return_address &= (std::uint64_t{1} << 48) - 1;
  const bool moved = return_address != address() || cfa != stack_pointer();
  if (rules.registers[kStackPointer].kind == Rule::Kind::kSame) caller[kStackPointer] = cfa;
  caller[kProgramCounter] = return_address;
  registers_ = caller;
  known_ = known | std::uint64_t{1} << kStackPointer | std::uint64_t{1} << kProgramCounter;
  is_interrupted_ = rules.is_signal_frame;
  is_whole_ = return_address == 0;
  return !is_whole_ && moved;
}

}  // namespace zerotax::record
