#pragma once

/* Plans short histories of one block. In each history, calloc reuses memory that is not zero. */

#include "prove/process/generate.h"

/* Plans the next history in the generator. */
void plan_history(struct generator* generator);
