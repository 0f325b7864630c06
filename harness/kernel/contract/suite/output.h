// Output of the suite, as text or as JSON.
#pragma once

#include "contract/suite/suite.h"

// Prints a line for a promise, and a second line for the observation. Without a report, prints the promise's statement.
void print_line(const char* family, const struct promise* promise, const struct report* found);
// Prints the first line of the results as JSON: the suite, and the system that it runs on.
void print_head(unsigned promises);
// Prints a promise as one object on one line. Without a report, prints only the promise, without a verdict.
void print_json(const char* family, const struct promise* promise, const struct report* found);
void print_summary(const unsigned* counts);
