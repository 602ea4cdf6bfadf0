// Compiles api.h as C, and calls some of its functions.
#include "engine/api/api.h"

// Returns the number of tokens after a step without a model, or -1 if that step is not refused.
int TokensOfAStepWithoutModel(void) {
  Gpt2Engine* engine = gpt2_create(1);
  if (engine == NULL) return -1;
  const bool is_refused = gpt2_step(engine) != NULL;
  const Gpt2Output* output = gpt2_output(engine);
  const int tokens = is_refused ? (int)output->token_count : -1;
  gpt2_destroy(engine);
  return tokens;
}
