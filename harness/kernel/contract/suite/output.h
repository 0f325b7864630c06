// What the suite prints, in words or as JSON.
#pragma once

#include "contract/suite/suite.h"

// A line for a promise, and a second one for what was found; without a report, its statement.
void print_line(const char* family, const struct promise* promise, const struct report* found);
// One object on one line; without a report, what is promised only.
// The first line of the results as JSON: the suite, and the system that it runs on.
void print_head(unsigned promises);
void print_json(const char* family, const struct promise* promise, const struct report* found);
void print_summary(const unsigned* counts);
