#pragma once

#include <cstddef>
#include <string>

#include "exchange/outcome.h"

namespace zerotax::exchange {

/// Workflow commands of GitHub Actions, a line each: the verdict, then ::error:: for each outcome that fails the
/// command, ::warning:: for what could not be judged and for what changed without failing it, ::notice:: for what is
/// better. GitHub shows ten annotations of a kind for a step: what is beyond that is one command that says how many.
std::string github_commands(const OutcomeList& list);

/// JUnit XML as Jenkins and GitLab read it (the rules of the xUnit plugin's junit-10.xsd): one test suite for each
/// suite of the list, one test case for each test, with all its outcomes. An outcome that fails the command is a
/// <failure>, or an <error> if it is kFailed; kSkipped is <skipped>; all else passes. So the file has a failed test
/// exactly if the exit status is 1. The sentence and the notes are properties of every suite. `seconds`: the time of
/// the whole command; test cases have no time of their own. `started`: UTC, "2026-11-20T05:10:00Z".
std::string junit_xml(const OutcomeList& list, double seconds, const std::string& started);

/// What GitHub refuses a comment beyond, in characters, and what we keep to, in bytes: the difference is for what a
/// workflow may put around it.
inline constexpr std::size_t kGitHubComment = 65'536;
inline constexpr std::size_t kMarkdownBytes = 65'000;

/// Markdown for the comment of a pull request: the verdict first, a table for each suite, the details folded away, the
/// notes last. At most `most` bytes: what is cut is counted, and what fails the command is cut last.
std::string markdown_text(const OutcomeList& list, std::size_t most = kMarkdownBytes);

}  // namespace zerotax::exchange
