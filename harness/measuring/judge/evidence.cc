#include "judge/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace zerotax {
namespace {

/// Whether both counts are known, `whole` is not 0, and `part` is at least half of `whole`.
bool is_half_of(const Evidence::Count& part, const Evidence::Count& whole) {
  return part && whole && *whole != 0 && *part >= *whole / 2 + *whole % 2;
}

/// Whether both counts are known, and `part` is less than a tenth of `whole`.
bool is_below_a_tenth(const Evidence::Count& part, const Evidence::Count& whole) {
  return part && whole && *part < *whole / 10 + 1;
}

std::string part_words(const Evidence::Count& part, const Evidence::Count& whole) {
  return fmt::format("{} of {}", format_size(part.value_or(0)), format_size(whole.value_or(0)));
}

/// Bytes that the program and its allocator returned to the kernel; no value if none of these counts is known.
Evidence::Count returned_by_all(const Evidence& evidence) {
  Evidence::Count sum;
  for (const Evidence::Count& part : {evidence.returned_by_allocator, evidence.returned_by_trim,
                                      evidence.returned_of_threads, evidence.returned_by_program}) {
    if (part) sum = sum.value_or(0) + *part;
  }
  return sum;
}

/// Whether `part` is at least half of the returned bytes, and the refilled bytes are at least half of `part`.
bool comes_again(const Evidence::Count& part, const Evidence& evidence) {
  return is_half_of(part, returned_by_all(evidence)) && is_half_of(evidence.refilled, part);
}

const std::string kAnotherAllocator = "another allocator (zerotax record --allocator NAME -- COMMAND)";

std::string setting_words(const Evidence& evidence) {
  std::string text =
      fmt::format("{} in the environment, which makes {} keep freed memory", evidence.setting, evidence.allocator);
  if (!evidence.setting_instead.empty()) text += fmt::format(" (in place of {})", evidence.setting_instead);
  if (evidence.setting_unbounded) {
    text += fmt::format(
        ". This setting keeps all freed memory: zerotax advise tries the setting under a limit of {}, twice the "
        "peak and 256 MiB",
        format_size(evidence.memory_limit.value_or(0)));
  }
  text += fmt::format("; {} of {} that were returned to the kernel were needed again",
                      format_size(std::min(evidence.refilled.value_or(0), returned_by_all(evidence).value_or(0))),
                      format_size(returned_by_all(evidence).value_or(0)));
  if (evidence.names_trim) {
    text += ". The program names malloc_trim, whose calls return memory in spite of the setting";
  }
  return text;
}

bool is_cleared_in_calloc(const Evidence& evidence) {
  return evidence.cleared_in_calloc && evidence.cleared_elsewhere &&
         *evidence.cleared_in_calloc >= *evidence.cleared_elsewhere && *evidence.cleared_in_calloc != 0;
}

/// Whether more pages were copied than the few that any fork copies.
bool has_copies(const Evidence& evidence) {
  constexpr std::uint64_t kFew = 256;
  return evidence.copied_by_children && evidence.copied_by_parent &&
         *evidence.copied_by_children + *evidence.copied_by_parent >= kFew;
}

/// Whether the requested bytes are at least half of the fresh memory, and too few to have reused that memory several
/// times.
bool is_of_blocks_used_once(const Evidence& evidence) {
  return is_half_of(evidence.requested, evidence.fresh) && *evidence.requested < 4 * *evidence.fresh;
}

/// Lower bound of the fresh bytes to which the program's own memset wrote first. Refilled bytes are subtracted.
Evidence::Count first_written(const Evidence& evidence) {
  if (!evidence.by_hand_fresh || !evidence.refilled) return std::nullopt;
  return *evidence.by_hand_fresh - std::min(*evidence.by_hand_fresh, *evidence.refilled);
}

/// Whether most of the memory that the allocator held was outside the program's blocks.
bool is_mostly_free(const Evidence& evidence) {
  if (!evidence.held_peak || !evidence.held_elsewhere || !evidence.live_at_most) return false;
  const std::uint64_t held = *evidence.held_peak - std::min(*evidence.held_peak, *evidence.held_elsewhere);
  return *evidence.live_at_most < held / 2;
}

/// Whether the allocator took new memory although most of its memory was free.
bool is_not_reused(const Evidence& evidence) {
  return is_half_of(evidence.requested, evidence.fresh) && is_half_of(evidence.fresh, evidence.held_peak) &&
         is_mostly_free(evidence);
}

const std::vector<AdviceRow> kRows{
    {"fresh-by-hand", Costly::kFresh, true,
     [](const Evidence& e) {
       return is_half_of(first_written(e), e.fresh) && is_below_a_tenth(e.by_hand_aligned, e.by_hand);
     },
     [](const Evidence& e) {
       return fmt::format(
           "replace malloc and memset by calloc, which leaves fresh memory to the kernel until it is used, or leave "
           "out memset where the program writes before it reads; the program's own memset was the first to write {} of "
           "fresh memory",
           part_words(std::min(first_written(e), e.fresh), e.fresh));
     }},
    {"fresh-by-hand-aligned", Costly::kFresh, true,
     [](const Evidence& e) { return is_half_of(first_written(e), e.fresh) && e.by_hand_aligned.has_value(); },
     [](const Evidence& e) {
       return fmt::format(
           "leave out memset on aligned blocks that the program fills, or get zeros by calloc with room to round up, "
           "or "
           "by mmap; the program's own memset was the first to write {} of fresh memory, and calloc gives no such "
           "alignment",
           part_words(std::min(first_written(e), e.fresh), e.fresh));
     }},
    {"huge-pages-unused", Costly::kFresh, false,
     [](const Evidence& e) {
       return is_half_of(e.huge, e.fresh) && is_half_of(e.huge_examined, e.huge) && e.huge_written &&
              *e.huge_written < *e.huge_examined / 2;
     },
     [](const Evidence& e) {
       return fmt::format(
           "turn off huge pages, by the allocator's setting, MADV_NOHUGEPAGE, or prctl(PR_SET_THP_DISABLE) at the "
           "start "
           "(zerotax advise tries the program without huge pages); the program wrote to {} of the memory that huge "
           "pages populated",
           part_words(e.huge_written, e.huge_examined));
     }},
    {"fresh-aligned", Costly::kFresh, true,
     [](const Evidence& e) { return is_not_reused(e) && is_half_of(e.aligned, e.requested); },
     [](const Evidence& e) {
       return fmt::format(
           "use malloc where no alignment is needed, keep the aligned blocks for reuse, or use {}; {} were requested "
           "with an alignment, and the allocator did not fit new blocks into freed ones: blocks in use filled at most "
           "{} "
           "that the allocator held",
           kAnotherAllocator, part_words(e.aligned, e.requested), part_words(e.live_at_most, e.held_peak));
     }},
    {"fresh-not-reused", Costly::kFresh, false, is_not_reused,
     [](const Evidence& e) {
       return kAnotherAllocator +
              fmt::format(
                  "; blocks in use filled at most {} that the allocator held, and the allocator nevertheless took new "
                  "memory",
                  part_words(e.live_at_most, e.held_peak));
     }},
    {"fresh-held", Costly::kFresh, true,
     [](const Evidence& e) { return is_of_blocks_used_once(e) && is_half_of(e.live_at_least, e.held_peak); },
     [](const Evidence& e) {
       return fmt::format(
           "allocate less, or free earlier; most of the zeroed memory is new to the program, which holds blocks "
           "of {} or more at one time",
           format_size(e.live_in_one.value_or(*e.live_at_least)));
     }},

    {"trims", Costly::kRefilled, true, [](const Evidence& e) { return comes_again(e.returned_by_trim, e); },
     [](const Evidence& e) {
       return fmt::format(
           "call malloc_trim less often, or not at all; malloc_trim returned {} that went back to the kernel, and"
           " {} were needed again",
           part_words(e.returned_by_trim, returned_by_all(e)), format_size(*e.refilled));
     }},
    {"thread-stacks", Costly::kRefilled, true, [](const Evidence& e) { return comes_again(e.returned_of_threads, e); },
     [](const Evidence& e) {
       return fmt::format(
           "keep threads for further work, as a thread pool does; {} that went back to the kernel were stacks of "
           "threads that ended",
           part_words(e.returned_of_threads, returned_by_all(e)));
     }},
    {"setting", Costly::kRefilled, false,
     [](const Evidence& e) {
       return !e.setting.empty() && !e.setting_too_small && e.sets_options.empty() &&
              comes_again(e.returned_by_allocator, e) && (!e.setting_unbounded || e.memory_limit);
     },
     setting_words},
    {"own-allocator", Costly::kRefilled, false,
     [](const Evidence& e) { return e.allocator.empty() && comes_again(e.returned_by_allocator, e); },
     [](const Evidence& e) {
       return fmt::format(
           "keep memory for reuse, by a setting of the program's allocator or by pools of buffers in the program; {} "
           "that went back to the kernel were returned by that allocator",
           part_words(e.returned_by_allocator, returned_by_all(e)));
     }},
    {"another-allocator", Costly::kRefilled, false,
     [](const Evidence& e) { return comes_again(e.returned_by_allocator, e); },
     [](const Evidence& e) {
       return kAnotherAllocator +
              fmt::format("; {} that went back to the kernel were returned by the allocator, and {}",
                          part_words(e.returned_by_allocator, returned_by_all(e)),
                          !e.sets_options.empty()
                              ? fmt::format("the program sets its options itself ({})", e.sets_options)
                          : e.setting_too_small ? "no known setting makes the allocator keep blocks of this size"
                                                : "no other known setting makes the allocator keep memory");
     }},
    {"program-returns", Costly::kRefilled, true,
     [](const Evidence& e) { return comes_again(e.returned_by_program, e); },
     [](const Evidence& e) {
       return fmt::format(
           "keep and reuse the memory that the program itself returns by munmap or madvise (at the listed sites); the "
           "program returned {} that went back to the kernel",
           part_words(e.returned_by_program, returned_by_all(e)));
     }},

    {"redundant", Costly::kCleared, false,
     [](const Evidence& e) { return is_cleared_in_calloc(e) && is_half_of(e.redundant, e.examined); },
     [](const Evidence& e) {
       return kAnotherAllocator + fmt::format(
                                      ", whose calloc does not clear zeros again, or malloc where the "
                                      "program reads only what it wrote; {} that calloc cleared and that were "
                                      "examined were zero already",
                                      part_words(e.redundant, e.examined));
     }},
    {"calloc", Costly::kCleared, true, is_cleared_in_calloc,
     [](const Evidence& e) {
       return fmt::format(
           "use malloc in place of calloc where the program overwrites the block; calloc cleared {} of memory that was "
           "used before, or was not examined",
           format_size(*e.cleared_in_calloc));
     }},
    {"cleared-in-malloc", Costly::kCleared, false,
     [](const Evidence& e) { return !is_cleared_in_calloc(e) && e.cleared_elsewhere.value_or(0) != 0; },
     [](const Evidence& e) {
       return fmt::format(
           "switch off the allocator's setting that clears blocks in malloc and realloc; {} were cleared in these "
           "calls",
           format_size(*e.cleared_elsewhere));
     }},
    {"in-free", Costly::kInFree, false, [](const Evidence&) { return true; },
     [](const Evidence&) { return "switch off the setting that clears freed blocks, or use " + kAnotherAllocator; }},

    {"by-hand-fresh", Costly::kByHand, true,
     [](const Evidence& e) {
       return is_half_of(e.by_hand_fresh, e.by_hand) && is_below_a_tenth(e.by_hand_aligned, e.by_hand);
     },
     [](const Evidence& e) {
       return fmt::format(
           "replace malloc and memset by calloc, which need not write fresh memory, or leave out memset where the "
           "program writes before it reads; {} that the program cleared were fresh",
           part_words(e.by_hand_fresh, e.by_hand));
     }},
    {"by-hand-aligned", Costly::kByHand, true,
     [](const Evidence& e) { return is_half_of(e.by_hand_fresh, e.by_hand) && e.by_hand_aligned.has_value(); },
     [](const Evidence& e) {
       return fmt::format(
           "leave out memset on aligned blocks that the program fills, or get zeros by calloc with room to round up, "
           "or "
           "by mmap; {} that the program cleared were fresh, and calloc gives no such alignment",
           part_words(e.by_hand_fresh, e.by_hand));
     }},
    {"by-hand-used", Costly::kByHand, true,
     [](const Evidence& e) {
       return e.by_hand_fresh && e.by_hand.value_or(0) != 0 && !is_half_of(e.by_hand_fresh, e.by_hand);
     },
     [](const Evidence& e) {
       return fmt::format(
           "clear only what the program does not write itself (a read buffer needs no zeros); {} that it cleared by "
           "memset lay in memory that the allocator had before, which calloc would clear as well",
           part_words(*e.by_hand - std::min(*e.by_hand, *e.by_hand_fresh), e.by_hand));
     }},
    {"by-program", Costly::kByProgram, true, [](const Evidence&) { return true; },
     [](const Evidence&) {
       return std::string("clear less often what the program itself clears by memset; the sites say where");
     }},
    {"stores", Costly::kStores, true, [](const Evidence&) { return true; },
     [](const Evidence&) {
       return std::string(
           "clear less, or later; find who stores zeros with zerotax profile, whose call tree names the callers of "
           "memset");
     }},

    {"copied-by-children", Costly::kCopies, true,
     [](const Evidence& e) { return has_copies(e) && *e.copied_by_children > *e.copied_by_parent; },
     [](const Evidence& e) {
       return fmt::format(
           "have the children write less to shared pages, or call exec sooner; the children copied {} of {}",
           format_count(*e.copied_by_children), format_counted(*e.copied_by_children + *e.copied_by_parent, "page"));
     }},
    {"copied-by-parent", Costly::kCopies, true,
     [](const Evidence& e) { return has_copies(e) && *e.copied_by_parent > *e.copied_by_children; },
     [](const Evidence& e) {
       return fmt::format(
           "have the parent write less while a child lives, or the child end sooner; the parent copied {} of {}",
           format_count(*e.copied_by_parent), format_counted(*e.copied_by_children + *e.copied_by_parent, "page"));
     }},
};

}  // namespace

const std::vector<AdviceRow>& advice_rows() { return kRows; }

const AdviceRow* advice_row(const Evidence& evidence) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const AdviceRow& each) {
    return each.costly == evidence.costly && each.holds(evidence);
  });
  return row == kRows.end() ? nullptr : &*row;
}

std::string advice_words(const AdviceRow* row, const Evidence& evidence) {
  if (row == nullptr) return "No advice: what was counted does not show what would help.";
  return "Try next: " + row->words(evidence) + ".";
}

std::uint64_t trial_memory(std::uint64_t peak) { return 2 * peak + (std::uint64_t{256} << 20); }

}  // namespace zerotax
