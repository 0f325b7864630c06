#pragma once

#include <string>

#include "exchange/outcome.h"

namespace zerotax::exchange {

/// JUnit XML as Jenkins and GitLab read it (the rules of the xUnit plugin's junit-10.xsd): one test suite for each
/// suite of the list, one test case for each test, with all its outcomes. An outcome that fails the command is a
/// <failure>, or an <error> if it is kFailed; kSkipped is <skipped>; all else passes. So the file has a failed test
/// exactly if the exit status is 1. The sentence and the notes are properties of every suite. `seconds`: the time of
/// the whole command; test cases have no time of their own. `started`: UTC, "2026-11-20T05:10:00Z".
std::string junit_xml(const OutcomeList& list, double seconds, const std::string& started);

}  // namespace zerotax::exchange
