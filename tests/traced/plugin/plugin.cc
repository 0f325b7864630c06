#include "../numbers.h"

extern "C" void plugin_entry(unsigned long count) { record_numbers(7, count); }
