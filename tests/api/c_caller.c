// api.h in C: this compiles, and calls what it declares.
#include "engine/api/api.h"

// The tokens of a step that has no model to run; -1 where something else is wrong.
int TokensOfAStepWithoutModel(void) {
  Gpt2Engine* engine = gpt2_create(1);
  if (engine == NULL) return -1;
  const bool is_refused = gpt2_step(engine) != NULL;
  const Gpt2Output* output = gpt2_output(engine);
  const int tokens = is_refused ? (int)output->token_count : -1;
  gpt2_destroy(engine);
  return tokens;
}
