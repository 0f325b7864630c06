#include "advise/fork_remedies.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "base/units.h"

namespace zerotax::advise {
namespace {

/// The texts of a change, in the order of ForkChange.
struct ChangeTexts {
  const char* name;
  const char* words;
  const char* costs;
};
constexpr ChangeTexts kTexts[] = {
    {"gc.disable() before fork", "the collector of forked processes starts only when the program calls it",
     "reference cycles of forked processes stay until the program calls gc.collect() or gc.enable()"},
    {"gc.freeze() before fork", "later collections ignore the objects that exist at the fork",
     "the fork waits for a collection, and reference cycles among the frozen objects are never freed"},
    {"GC.compact before fork", "the objects that exist at the fork lie on fewer pages",
     "the first fork waits for a collection and a compaction, and C extensions must support compaction"},
    {"Process.warmup before fork", "the objects that exist at the fork are old, and lie on fewer pages",
     "the first fork waits for a collection and a compaction"},
    {"MADV_DONTFORK for large blocks",
     "fork copies no page tables of blocks of 1 MiB or more, and writes copy no pages",
     "a child that accesses a large block is killed, and system calls of a child on a large block fail with EFAULT"},
};

const char* name_of(ForkChange change) { return kTexts[static_cast<std::size_t>(change)].name; }

bool runs(const std::vector<std::string>& files, const char* interpreter) {
  return std::any_of(files.begin(), files.end(),
                     [&](const std::string& file) { return file_name(file).starts_with(interpreter); });
}

/// Returns the reason why a hook cannot change the collector of a Python program; empty if the hook can.
std::string why_not_python(const HookNotes& notes) {
  if (notes.python.empty()) return "Python ignored the hook, as with -I, -E or -S, or in a cleared environment";
  if (!notes.python_can_freeze) return fmt::format("Python {} lacks gc.freeze and os.register_at_fork", notes.python);
  return notes.python_forks ? "" : "no fork of the program calls os.fork";
}

/// Returns the reason why a hook cannot change the heap of a Ruby program; empty if the hook can.
std::string why_not_ruby(const HookNotes& notes) {
  if (notes.ruby.empty()) return "Ruby ignored the hook, as with --disable=rubyopt, or in a cleared environment";
  if (!notes.ruby_can_hook) return fmt::format("Ruby {} lacks Process._fork, and a hook needs it", notes.ruby);
  return notes.ruby_forks ? "" : "no fork of the program calls Process.fork";
}

}  // namespace

Remedy fork_remedy(const ForkHook& hook, ForkChange change) {
  const ChangeTexts& texts = kTexts[static_cast<std::size_t>(change)];
  Remedy remedy;
  remedy.name = texts.name;
  remedy.words = texts.words;
  remedy.costs = texts.costs;
  remedy.source = source_line({change});
  remedy.hook = hook.variables(change);
  return remedy;
}

ForkRemedies fork_remedies(const ForkHook& hook, const HookNotes& notes, const std::vector<std::string>& files) {
  ForkRemedies found;
  found.multiprocessing = notes.multiprocessing;
  const auto add = [&](ForkChange change, const std::string& why) {
    if (why.empty()) {
      found.remedies.push_back(fork_remedy(hook, change));
    } else {
      found.not_tried.push_back({name_of(change), why});
    }
  };
  if (!notes.python.empty() || runs(files, "python")) {
    const std::string why = why_not_python(notes);
    add(ForkChange::kFreeze, why);
    add(ForkChange::kDisable, why);
  }
  if (!notes.ruby.empty() || runs(files, "ruby")) {
    const std::string why = why_not_ruby(notes);
    const auto lacks = [&](bool has, const char* method, const char* since) {
      return why.empty() && !has ? fmt::format("Ruby {} lacks {}, which exists since {}", notes.ruby, method, since)
                                 : why;
    };
    add(ForkChange::kCompact, lacks(notes.ruby_can_compact, "GC.compact", "2.7"));
    add(ForkChange::kWarmup, lacks(notes.ruby_can_warm_up, "Process.warmup", "3.3"));
  }
  return found;
}

void add_dont_fork(const ForkHook& hook, const HookNotes& notes, bool ended_well, const std::string& place,
                   ForkRemedies& found) {
  if (notes.large_bytes == 0) return;
  if (notes.reads_large || !ended_well) {
    found.not_tried.push_back(
        {name_of(ForkChange::kDontFork),
         notes.reads_large
             ? "a child of fork reads or writes a block of 1 MiB or more"
             : "the program failed, or changed its output, when large blocks were protected in children of fork"});
    return;
  }
  Remedy remedy = fork_remedy(hook, ForkChange::kDontFork);
  remedy.words +=
      fmt::format("; here {}{}{}", format_size(notes.large_bytes), place.empty() ? "" : ", mostly of ", place);
  if (!notes.python.empty())
    remedy.words += "; in Python, objects of mmap.mmap have the same call: m.madvise(mmap.MADV_DONTFORK)";
  found.remedies.push_back(remedy);
}

}  // namespace zerotax::advise
