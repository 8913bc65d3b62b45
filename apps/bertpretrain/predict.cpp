// bertpretrain predict MODEL [TEXT...]

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "rank_options.h"

#include "checkpoint/find_weights.h"
#include "core/error.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "inference/loaded_model.h"
#include "inference/model_tokenizer.h"
#include "inference/predict_masked.h"
#include "plan/device_choice.h"
#include "text/reader/read_text.h"
#include "tokens/models/unknown_tokens.h"

namespace bertpretrain {
namespace {

struct PredictArguments {
    std::string model, precision = "fp32", device = "auto";
    std::vector<std::string> texts;
    std::int64_t top = 5;
    bool cased = false, json = false;
};

std::vector<std::string> lines_of_standard_input() {
    std::vector<std::string> lines;
    TextLines in("-");
    for (std::string line; in.next(line);) lines.push_back(line);
    return lines;
}

/// An id beyond the vocabulary exists because the model's table is padded; it has no token.
std::string token_text(const Vocabulary& vocabulary, std::int32_t id) {
    return id < vocabulary.size() ? vocabulary.token(id) : concat("[", id, "]");
}

std::string decoded_text(const Vocabulary& vocabulary, std::int32_t id) {
    return id < vocabulary.size() ? vocabulary.decoded(id) : token_text(vocabulary, id);
}

/// The text of a token as transformers' decode() returns it, which drops the first space where a sign stands for it.
std::string transformers_text(const Vocabulary& vocabulary, std::int32_t id) {
    std::string text = decoded_text(vocabulary, id);
    const bool has_sign = vocabulary.marks_word_starts() && !vocabulary.is_byte_level();
    return has_sign && text.starts_with(' ') ? text.substr(1) : text;
}

nlohmann::ordered_json json_of(const std::string& text, const PredictedText& predicted, const Vocabulary& vocabulary) {
    nlohmann::ordered_json out{{"text", text}, {"masks", nlohmann::ordered_json::array()}};
    for (std::size_t m = 0; m < predicted.guesses.size(); ++m) {
        nlohmann::ordered_json guesses = nlohmann::ordered_json::array();
        for (const TokenGuess& guess : predicted.guesses[m])
            guesses.push_back({{"id", guess.id},
                               {"token", token_text(vocabulary, guess.id)},
                               {"token_str", transformers_text(vocabulary, guess.id)},
                               {"probability", guess.probability}});
        out["masks"].push_back({{"position", predicted.mask_positions[m]}, {"guesses", guesses}});
    }
    return out;
}

/// A token in the table: in quotes where its white space would be overlooked.
std::string shown_text(const Vocabulary& vocabulary, std::int32_t id) {
    const std::string text = displayable(decoded_text(vocabulary, id));
    return vocabulary.marks_word_starts() ? concat('"', text, '"') : text;
}

std::string text_of(const std::string& text, const PredictedText& predicted, const Vocabulary& vocabulary) {
    std::string out = displayable(text) + "\n";
    for (const MaskGuesses& guesses : predicted.guesses) {
        std::vector<std::string> parts;
        for (const TokenGuess& guess : guesses)
            parts.push_back(concat(shown_text(vocabulary, guess.id), " ", fixed(100 * guess.probability, 1), " %"));
        out += concat("  ", join(parts), "\n");
    }
    return out;
}

/// Warns where the model reads [UNK] instead of the text.
void warn_of_unknown(const std::vector<std::string>& texts, const std::vector<PredictedText>& predicted,
                     const Vocabulary& vocabulary) {
    UnknownTokens found;
    for (std::size_t i = 0; i < texts.size(); ++i) found.add(predicted[i].ids, texts[i], vocabulary.specials());
    if (const auto warning = warning_of_unknown(found, vocabulary)) log_warning(*warning);
}

/// Warns of texts that use positions which the run never trained.
void warn_of_long(const std::vector<PredictedText>& predicted, const LoadedModel& model) {
    const auto trained = static_cast<std::size_t>(trained_length(model));
    const auto is_long = [&](const PredictedText& text) { return text.ids.size() > trained; };
    if (const auto count = std::ranges::count_if(predicted, is_long); count > 0)
        log_warning(concat(count, " of ", predicted.size(), predicted.size() == 1 ? " text is" : " texts are",
                           " longer than the ", trained, " tokens that the run trained on, so later positions may be untrained"));
}

void predict(const PredictArguments& arguments) {
    const bool from_input = arguments.texts.empty() || arguments.texts == std::vector<std::string>{"-"};
    const std::vector<std::string> texts = from_input ? lines_of_standard_input() : arguments.texts;
    const at::Device device = device_named(arguments.device, 0);
    const LoadedModel model = load_model(arguments.model, arguments.precision == "bf16" ? at::kBFloat16 : at::kFloat, device);
    require_part(model, ModelPart::masked_words_head, "predict");
    const auto tokenizer = tokenizer_of(model, arguments.cased).tokenizer;
    model.model->pack_weights();
    const std::vector<PredictedText> predicted = predict_masked(*model.model, *tokenizer, device, texts, arguments.top,
                                                                from_input ? "standard input" : "the command's texts");
    warn_of_unknown(texts, predicted, tokenizer->vocabulary());
    warn_of_long(predicted, model);
    for (std::size_t i = 0; i < texts.size(); ++i)
        std::cout << (arguments.json ? json_of(texts[i], predicted[i], tokenizer->vocabulary())
                                               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                                           "\n"
                                     : text_of(texts[i], predicted[i], tokenizer->vocabulary()));
    std::cout << std::flush;
}

}  // namespace

void add_predict_command(CLI::App& app) {
    const auto arguments = std::make_shared<PredictArguments>();
    CLI::App* command = app.add_subcommand("predict", "Predicts the words at [MASK] in sentences");
    command->add_option("model", arguments->model, "A checkpoint's folder, or a run's folder (its newest checkpoint)")
        ->required();
    command->add_option("texts", arguments->texts,
                        "Sentences with at least one [MASK] each. Without any, or as -, a sentence per line of standard input");
    command->add_option("--top", arguments->top, "How many tokens to print for each [MASK], the most probable first")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
        ->capture_default_str();
    add_device_options(*command, arguments->precision, arguments->device);
    command->add_flag("--cased", arguments->cased,
                      "Keep case and accents. Default: as the model records, else as its vocabulary's tokens do");
    command->add_flag("--json", arguments->json, "Print a JSON object per sentence");
    command->callback([arguments] { predict(*arguments); });
}

}  // namespace bertpretrain
