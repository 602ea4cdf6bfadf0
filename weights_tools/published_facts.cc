#include "weights_tools/published_facts.h"

#include <cstdint>

#include "engine/model/config.h"

namespace gpt2::tools {
namespace {

constexpr const char* kKeras =
    "https://github.com/keras-team/keras-hub/blob/master/keras_hub/src/models/gpt2/gpt2_presets.py";
constexpr const char* kTransformersTest =
    "https://github.com/huggingface/transformers/blob/main/tests/models/gpt2/"
    "test_modeling_gpt2.py";
constexpr const char* kTransformersDocs = "https://huggingface.co/docs/transformers/model_doc/gpt2";
constexpr const char* kTransformersPerplexity =
    "https://huggingface.co/docs/transformers/perplexity";
constexpr const char* kTiktoken =
    "https://github.com/openai/tiktoken/blob/main/tests/test_simple_public.py";
constexpr const char* kPicoGpt = "https://github.com/jaymody/picoGPT/blob/main/README.md";
constexpr const char* kHowToGenerate = "https://huggingface.co/blog/how-to-generate";
constexpr const char* kContrastiveSearch = "https://huggingface.co/blog/introducing-csearch";
constexpr const char* kRustBert =
    "https://github.com/guillaume-be/rust-bert/blob/main/tests/gpt2.rs";
constexpr const char* kTransformerLens =
    "https://github.com/TransformerLensOrg/TransformerLens/blob/main/tests/acceptance/"
    "test_hooked_transformer.py";
constexpr const char* kLlmC = "https://github.com/karpathy/llm.c/pull/276";

constexpr const char* kSmall = "GPT-2 124M";
constexpr const char* kLarge = "GPT-2 774M";

constexpr Release kReleases[] = {
    {kSmall, 12, 12, 768, 1024, 50257, 124'439'808, kKeras},
    {"GPT-2 355M", 24, 16, 1024, 1024, 50257, 354'823'168, kKeras},
    {kLarge, 36, 20, 1280, 1024, 50257, 774'030'080, kKeras},
    {"GPT-2 1.5B", 48, 25, 1600, 1024, 50257, 1'557'611'200, kKeras},
};

constexpr std::int32_t kHelloWorldLower[] = {31373, 995};
constexpr std::int32_t kHelloWorld[] = {15496, 995};
constexpr std::int32_t kSpaceHelloWorld[] = {18435, 995};
constexpr std::int32_t kEndOfText[] = {31373, 220, 50256};
constexpr std::int32_t kDog[] = {464, 3290, 373, 1043, 287,   257, 2214, 1474, 262, 16246,
                                 286, 2688, 290, 2688, 27262, 13,  198,  198,  464, 3290};
constexpr TokenFact kTokens[] = {
    {"hello world", kHelloWorldLower, kTiktoken},
    {"hello <|endoftext|>", kEndOfText, kTiktoken},
    {"Hello world", kHelloWorld, kTransformersDocs},
    {" Hello world", kSpaceHelloWorld, kTransformersDocs},
    {"The dog was found in a field near the intersection of West and West Streets.\n\nThe dog",
     kDog, kTransformersTest},
};

constexpr ContinuationFact kContinuations[] = {
    {kSmall, "The dog",
     " was found in a field near the intersection of West and West Streets.\n\nThe dog",
     kTransformersTest},
    {kSmall, "Hello, my dog is a little", " bit of a mess. I'm not sure if he's going",
     kTransformersTest},
    {kSmall, "Today, I", "'m going to be doing a lot of research on this. I", kTransformersTest},
    {kSmall, "Alan Turing theorized that computers would one day become",
     " the most powerful machines on the planet.\n\nThe computer is a machine that can perform "
     "complex calculations, and it can perform these calculations in a way that is very similar to "
     "the human brain.",
     kPicoGpt},
    {kSmall, "I enjoy walking with my cute dog",
     ", but I'm not sure if I'll ever be able to walk with my dog. I'm not sure if I'll ever be "
     "able to walk with my dog.\n\nI'm not sure if I'll",
     kHowToGenerate},
    {kLarge, "DeepMind Company is",
     " a leading AI research company, with a focus on deep learning and deep learning-based "
     "systems.\n\nThe company's research is focused on the development of deep learning-based "
     "systems that can learn from large amounts of data, and that can be used to solve real-world "
     "problems.",
     kContrastiveSearch},
};

constexpr LogitFact kLogits[] = {{kSmall, "One two three four", 1936, -69.4948, kRustBert}};

constexpr LossFact kLosses[] = {{kSmall, "Hello world!", 5.331855773925781, kTransformerLens}};

constexpr const char* kWikiText = "WikiText-2, raw, test, its lines joined by two newlines";
constexpr PerplexityFact kPerplexities[] = {
    {kSmall, kWikiText, 287'644, 1024, 29.94, kLlmC},
    {kLarge, kWikiText, 287'644, 1024, 19.44, kTransformersPerplexity},
    {kLarge, kWikiText, 287'644, 512, 16.45, kTransformersPerplexity},
};

constexpr Facts kFacts = {kReleases, kTokens, kContinuations, kLogits, kLosses, kPerplexities};

}  // namespace

bool Release::Fits(const Config& config) const {
  return n_layer == config.n_layer && n_head == config.n_head && n_embd == config.n_embd &&
         n_positions == config.n_positions && vocab_size == config.vocab_size;
}

const Facts& PublishedFacts() {
  return kFacts;
}

}  // namespace gpt2::tools
