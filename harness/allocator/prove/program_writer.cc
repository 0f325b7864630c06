#include "prove/program_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "exchange/forms.h"
#include "prove/program_calls.h"

namespace zerotax::prove {
namespace {

/// A thread's function in the program.
using Body = std::vector<std::string>;

/// Divides the calls among the functions of the threads. Each thread waits for its turns in the recorded order.
class Threads {
 public:
  explicit Threads(ProgramCalls& calls) : calls_(calls) {}

  void add(const Op& op) {
    const auto found = running_.find(op.thread);
    const std::size_t body = found == running_.end() ? last_ : found->second;
    give_turn_to(body);
    if (op.kind == kOpStart && running_.count(op.n) == 0) {
      running_[op.n] = bodies_.size();
      put(body, fmt::format("pthread_create(&threads[{}], NULL, thread_{}, NULL);", op.n, bodies_.size()));
      bodies_.emplace_back();
    } else if (const auto ended = running_.find(op.n);
               op.kind == kOpEnd && ended != running_.end() && ended->second != body) {
      running_.erase(ended);
      put(body, fmt::format("pthread_join(threads[{}], NULL);", op.n));
    } else {
      for (const std::string& line : calls_.lines_of(op)) put(body, line);
    }
  }

  std::string text() {
    give_turn_to(0);
    for (const std::string& line : calls_.last_lines()) put(0, line);
    put(0, "if (!bad) puts(\"nothing found\");");
    put(0, "return bad;");
    std::string text;
    for (std::size_t i = bodies_.size() - 1; i > 0; --i) {
      text += fmt::format("\nstatic void* thread_{}(void* nothing) {{\n{}  return nothing;\n}}\n", i,
                          fmt::join(bodies_[i], ""));
    }
    return text + fmt::format("\nint main(void) {{\n{}}}\n", fmt::join(bodies_[0], ""));
  }

 private:
  void put(std::size_t body, const std::string& line) { bodies_[body].push_back("  " + line + "\n"); }

  void give_turn_to(std::size_t body) {
    if (body == last_) return;
    put(last_, "pass();");
    put(body, fmt::format("wait_for({});", ++turn_));
    last_ = body;
  }

  ProgramCalls& calls_;
  std::vector<Body> bodies_{1};
  std::map<std::uint64_t, std::size_t> running_{{0, 0}};  ///< bodies by thread number
  std::size_t last_ = 0;
  int turn_ = 0;
};

/// Removes sequences that would end the comment.
std::string in_comment(std::string text) {
  for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/")) text.replace(at, 2, "* /");
  return text;
}

/// Contents of harness/allocator/prove/program/<name>.txt: the parts of programs that do not depend on the sequence.
const std::map<std::string, std::string>& embedded_program_parts() {
  static const std::map<std::string, std::string> all{
#include "embedded_program_parts.inc"
  };
  return all;
}

}  // namespace

std::uint64_t calls_in(const Ops& ops) {
  return static_cast<std::uint64_t>(std::count_if(ops.begin(), ops.end(), [](const Op& op) {
    return op.kind == kOpCall || op.kind == kOpFree || op.kind == kOpTrim || op.kind == kOpFork;
  }));
}

std::string program_source(const Ops& ops, const std::vector<Function>& functions, const ProgramWords& words) {
  ProgramCalls calls(functions, words.kind);
  Threads threads(calls);
  for (const Op& op : ops) threads.add(op);
  const std::string body = threads.text();
  std::string text = fill_in(embedded_program_parts().at("begin"), {{"FINDING", in_comment(words.finding)},
                                                                    {"HOW", in_comment(words.how)},
                                                                    {"BLOCKS", std::to_string(calls.made() + 1)}});
  // Each part is needed if the program contains one of the words. A part may need the parts before it.
  const std::pair<const char*, std::vector<const char*>> parts[] = {{"found", {" found(", "check_apart("}},
                                                                    {"apart", {"check_apart("}},
                                                                    {"child", {"zero_again("}},
                                                                    {"limit", {" limit("}},
                                                                    {"any_function", {"(any)"}},
                                                                    {"turns", {"wait_for(", "pthread_create("}}};
  for (const auto& [part, needed_for] : parts) {
    const bool is_needed = std::any_of(needed_for.begin(), needed_for.end(),
                                       [&](const char* word) { return body.find(word) != std::string::npos; });
    if (is_needed) text += embedded_program_parts().at(part);
  }
  return text + body;
}

}  // namespace zerotax::prove
