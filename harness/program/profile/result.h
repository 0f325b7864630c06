#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/measured.h"
#include "base/units.h"
#include "observe/profile_data.h"

namespace zerotax::profile {

/// The process that was sampled, as it was when sampling began.
struct SampledProcess {
  pid_t pid = 0;
  std::string name;
  std::string path;
  pid_t parent = 0;
  std::string parent_name;
  std::uint64_t load_address = 0;  ///< 0: not known
  std::string build_id;            ///< hexadecimal; empty: none
  std::string launched;            ///< UTC
  bool ended = false;              ///< by itself, while it was sampled
  std::vector<pid_t> running;      ///< processes that it started and that outlived it
};

/// What was profiled, and in what way.
struct ProfileSubject {
  std::vector<std::string> command;  ///< the program's words, or those that name the case
  unsigned hz = 0;
  bool wall = false;
  double wall_s = 0;
  double user_s = 0;  ///< by the kernel's own account (rusage), a second method
  double system_s = 0;
  std::uint64_t faults = 0;  ///< page faults, by the same account
  int exit_status = 0;
  std::string started;
  std::optional<SampledProcess> process = {};
};

struct Sampled {
  RESULT("process", "A process that was sampled.");
  FIELD(pid_t, pid, "Its PID.");
  FIELD(Measured<std::string>, name, "Its short name.");
  FIELD(Measured<std::string>, path, "Path of its program.");
  FIELD(pid_t, parent_pid, "PID of its parent.");
  FIELD(Measured<std::string>, parent_name, "Short name of its parent.");
  FIELD(Measured<std::string>, load_address, "Where its program file was loaded.", form("^0x[0-9a-f]+$"));
  FIELD(Measured<std::string>, build_id, "Version of its program: the build-id in its file.", form("^[0-9a-f]+$"));
  FIELD(Measured<std::string>, launched, "When it was started, in UTC.", kUtc);
  FIELD(bool, ended, "Whether it ended by itself while it was sampled.");
  FIELD(std::optional<std::vector<pid_t>>, running,
        "PIDs of processes that it started and that outlived it (daemons). Absent if there are no such processes.",
        least(1));
};

struct SamplingMethod {
  RESULT("method");
  FIELD(std::string, event,
        "What triggers samples: the kernel's clock of CPU time; or, with --wall, the clock on the wall, by which every "
        "thread is looked at, running or blocked.",
        one_of("cpu-clock|wall-clock"));
  FIELD(unsigned, hz,
        "Samples per second of CPU time of each thread; with --wall, looks per second that were asked for.", least(1));
  FIELD(
      Measured<std::string>, samples_of,
      "CPUs, whatever runs there (as root); or threads, each by a clock of its own, of which one that ends before the "
      "clock expires gets no sample. n/a where nothing could be sampled: what is known is by the kernel's account.",
      one_of("CPUs|threads"), kLater);
  FIELD(Measured<std::string>, kernel, "Whether samples in kernel mode were taken.", one_of("sampled"));
  FIELD(Measured<std::string>, kernel_names, "Where the names of the kernel's functions come from.",
        one_of("from /proc/kallsyms"));
  FIELD(std::optional<std::uint64_t>, looks, "With --wall: how often all threads were looked at.");
  FIELD(std::optional<Measured<std::string>>, blocked, "With --wall: whether blocked threads are shown.",
        one_of("sampled"));
};

struct Unseen {
  RESULT("unseen");
  FIELD(
      double, share,
      "1 - seen_s / cpu_s, at least 0. Above one half, the exit status is 3 and there is no call tree on the terminal.",
      most(1));
  FIELD(double, cpu_s, "user_s + system_s.");
  FIELD(double, seen_s, "(samples - accounted) / hz.");
  FIELD(Measured<double>, user_share,
        "The same of user_s alone, where the kernel's time is not sampled: then it decides about the exit status. n/a "
        "where the kernel is sampled, where nothing is, and where user_s is too little. Absent from earlier files.",
        most(1), kLater);
  FIELD(Measured<std::string>, why, "Reasons for a share above a tenth.");
  FIELD(Measured<std::string>, remedy, "What to do about it.");
};

struct Category {
  RESULT("category", "One kind of work.");
  FIELD(std::string, category, "Kind of work, by the innermost frames (docs/profile.md).",
        one_of("zeroing|filling|memset (value unknown)|page faults|mapping calls|other "
               "kernel|copying|allocator|program|waiting|kernel (cause unknown)|running (not sampled)"));
  FIELD(Measured<std::uint64_t>, samples, "Number of samples.");
  FIELD(std::optional<std::uint64_t>, at_most,
        "For page faults, mapping calls and other kernel, where it is not known how many samples they have: no more "
        "than these. One of them may have all of the kernel's; together they have no more than kernel (cause unknown) "
        "and what was known of them.");
  FIELD(std::optional<Measured<std::uint64_t>>, while_zeroing,
        "For page faults: the samples in faults taken by a bzero, or a memset of 0.");
  FIELD(std::optional<Measured<std::uint64_t>>, while_filling,
        "For page faults: the samples in faults taken by a memset of another byte.");
  FIELD(std::optional<Measured<std::uint64_t>>, while_in_memset_of_unknown_value,
        "For page faults: the samples in faults taken by a memset of which it is not known what it writes.");
};

struct Function {
  RESULT("function", "A function that was innermost.");
  FIELD(std::string, function,
        "Name of the function, demangled; its address if no symbol is known. For the outermost frame, the program's "
        "short name.");
  FIELD(std::string, module,
        "File name of the program, library or script, or kernel; perf map for code of which an interpreter names no "
        "file; empty if unknown.",
        kMayBeEmpty);
  FIELD(std::uint64_t, samples, "Number of samples.");
};

struct Call : Function {
  RESULT("call", "A function at one place in the tree.");
  BASE_FIELDS(Function);
  FIELD(std::vector<Call>, children, "The functions that it called.");
  FIELD(std::optional<Measured<std::uint64_t>>, offset,
        "In the tree of a thread, whose calls are of places in functions: bytes from the function's begin; of several "
        "places, that with the most samples.",
        least(1));
  FIELD(std::optional<Measured<std::string>>, address, "In the tree of a thread: address in the process's memory.",
        form("^0x[0-9a-f]+$"));
  FIELD(std::optional<std::uint64_t>, places, "In the tree of a thread: how many places these are.", least(1));
  static constexpr const char* kMore = R"({"dependentRequired": {
    "offset": ["address", "places"], "address": ["offset", "places"], "places": ["offset", "address"]}})";
};

struct PageFaults {
  RESULT("page faults");
  FIELD(std::uint64_t, taken,
        "Minor and major faults by the kernel's account, those of the kernel's own accesses among them.");
  FIELD(Measured<std::uint64_t>, samples, "Faults in user mode, which the tree divides.");
  FIELD(std::uint64_t, sampled, "How many of them were looked at.");
  FIELD(std::vector<Call>, tree, "The call tree, as tree, in faults. Their cost is not in it.");
};

struct Thread {
  RESULT("thread", "One thread.");
  FIELD(std::uint32_t, pid, "Its process.");
  FIELD(std::uint32_t, tid, "Its number.");
  FIELD(std::string, name, "Its name; empty if unknown.", kMayBeEmpty);
  FIELD(std::uint64_t, samples, "Number of samples.");
  FIELD(std::vector<Call>, tree, "Its calls, outermost first.",
        with(R"({"items": {"$ref": "#/$defs/call", "required": ["offset", "address", "places"]}})"));
};

struct Profile : DocumentHead {
  RESULT("zerotax profile",
         "What zerotax profile --json writes: where a case, a program or a process spends its time. JSON Schema cannot "
         "express that the categories, the functions at the top of the stack, and the roots of the tree each add up to "
         "samples.");
  HEAD_FIELDS("zerotax.profile/1",
              "The command line of the program; or case, allocator, size, touch and thread; or --pid and the process.",
              least_items(1));
  FIELD(int, exit_status,
        "Exit status of the program, as a shell reports it: 128 + N if signal N ended it. 0 for a case and for a "
        "process.",
        most(255));
  FIELD(Measured<Sampled>, process, "The process that was sampled, as it was when sampling began.", kLater);
  FIELD(SamplingMethod, method, "How samples were taken.");
  FIELD(double, wall_s, "Seconds from start to end.");
  FIELD(double, user_s,
        "Seconds of CPU time in user mode, by the kernel's account (rusage; of a process, /proc and its CPU clock).");
  FIELD(double, system_s, "Seconds of CPU time in kernel mode, by the kernel's account.");
  FIELD(std::uint64_t, samples, "Number of samples; with --wall, of threads at each look.");
  FIELD(std::uint64_t, accounted,
        "Of the samples those that were not taken, but stand for time by the kernel's own account, because the "
        "kernel's time could not be sampled, or nothing could: (kernel, not sampled) and (user mode, not sampled) in "
        "the trees. Absent from earlier files.",
        kLater);
  FIELD(std::uint64_t, lost, "Number of events, most of them samples, lost because they were not read in time.");
  FIELD(double, lost_share,
        "Lost events as a share of all, at most: where CPUs are sampled, events of other processes may be among them.",
        most(1), kLater);
  FIELD(Measured<Unseen>, unseen,
        "How much of the CPU time by the kernel's account the samples do not stand for; n/a with --wall, and where "
        "fewer than 30 samples were to be expected.",
        kLater);
  FIELD(std::vector<InterpreterNames>, script_names,
        "Interpreters that ran, and where the names of their scripts' functions come from. Absent from earlier files.",
        kLater);
  FIELD(std::vector<Category>, categories,
        "What the samples were busy with: each sample is in exactly one category; those with the most samples first.");
  FIELD(std::vector<Function>, top_of_stack, "Innermost functions, those with the most samples first.");
  FIELD(std::vector<Call>, tree, "The call tree, outermost first: its roots are the programs, by their short names.");
  FIELD(PageFaults, page_faults,
        "Page faults, and where they were taken if the samples do not show what the kernel did. Absent from earlier "
        "files.",
        kLater);
  FIELD(std::optional<std::vector<Thread>>, threads,
        "A call tree for each thread, of places in functions, not of functions; with --pid, --threads, or --wall and a "
        "command.");
};

Profile profile_result(const ProfileSubject& subject, const ProfileData& data, Json environment);

/// The object of "zerotax.profile/1".
Json profile_json(const Profile& profile);

/// "12.5 %" of so many samples; "n/a" of what was not sampled.
inline std::string share_text(const Measured<std::uint64_t>& samples, std::uint64_t of) {
  if (!samples) return "n/a";
  return format_percent(static_cast<double>(*samples) / static_cast<double>(std::max<std::uint64_t>(of, 1)));
}

}  // namespace zerotax::profile
