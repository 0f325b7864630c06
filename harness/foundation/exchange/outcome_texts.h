#pragma once

#include <cstddef>
#include <string>

#include "exchange/outcome.h"

namespace zerotax::exchange {

/// Returns workflow commands of GitHub Actions, one per line. The verdict comes first. ::error:: marks outcomes that
/// fail the command. ::warning:: marks outcomes that could not be judged, or changed without failing the command.
/// ::notice:: marks improvements. GitHub shows ten annotations of a kind per step, so one last command counts the
/// omitted outcomes.
std::string github_commands(const OutcomeList& list);

/// Returns JUnit XML for Jenkins and GitLab, by the rules of the xUnit plugin's junit-10.xsd. Each suite of the list
/// becomes a test suite, and each test becomes a test case with all its outcomes. An outcome that fails the command is
/// a <failure>, or an <error> if it is kFailed. A kSkipped outcome is <skipped>, and all others pass. So the file
/// contains a failed test exactly if the exit status is 1. The sentence and the notes are properties of every suite.
/// `seconds` is the time of the whole command; test cases have no time of their own. `started` is in UTC,
/// "2026-11-20T05:10:00Z".
std::string junit_xml(const OutcomeList& list, double seconds, const std::string& started);

/// GitHub's limit for a comment, in characters. zerotax counts bytes, which leaves room for text that a workflow may
/// add.
inline constexpr std::size_t kGitHubComment = 65'536;
inline constexpr std::size_t kMarkdownBytes = 65'000;

/// Returns Markdown for a comment on a pull request: the verdict, a table for each suite, the folded details, and the
/// notes. The text has at most `most` bytes. Omitted outcomes are counted, and outcomes that fail the command are
/// omitted last.
std::string markdown_text(const OutcomeList& list, std::size_t most = kMarkdownBytes);

}  // namespace zerotax::exchange
