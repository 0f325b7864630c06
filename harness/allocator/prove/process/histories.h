#pragma once

/* Plans short histories of one block, in which calloc must find out that memory is not zero. */

#include "prove/process/generate.h"

/* Plans the next history in the generator. */
void plan_history(struct generator* generator);
