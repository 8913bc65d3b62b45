#include "sample_options.h"

#include "commands.h"

#include "core/concat.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "shards/build/build_request.h"

namespace bertpretrain {
namespace {

/// Warns where full rows would have less than four fifths of the masked tokens asked for: 12 % of a row where that is 15 %.
void warn_of_few_predictions(const SampleSettings& asked) {
    const double wanted = asked.masked_lm_prob * static_cast<double>(asked.sequence_length);
    const auto most = static_cast<double>(asked.max_predictions);
    if (most < 0.8 * wanted)
        log_warning(concat("--max-predictions ", asked.max_predictions, ": masks at most ",
                           fixed(100 * most / static_cast<double>(asked.sequence_length), 1), " % of ", asked.sequence_length,
                           " tokens, less than the ", fixed(100 * asked.masked_lm_prob, 1), " % of --masked-lm-probability; ",
                           default_max_predictions(asked), " would suffice"));
}

}  // namespace

SampleOptions::SampleOptions(CLI::App& command, SampleSettings& settings) {
    command
        .add_option(
            "--objective", settings.objective,
            "What rows are for. mlm_nsp: masked words and next sentences. mlm: masked words alone; a row then holds whole "
            "sentences of one article, as many as fit, and no label of next sentences")
        ->check(CLI::IsMember({"mlm_nsp", "mlm"}))
        ->capture_default_str();
    command.add_flag("--across-documents", settings.across_documents,
                     "With --objective mlm, fill the rest of a row with the next article, after a [SEP]");
    command.add_flag("--best-fit", settings.best_fit,
                     "With --objective mlm, pack whole articles into rows by best-fit: each has its own [CLS] and [SEP], and "
                     "tokens attend only to those of their article");
    command.add_flag("--keep-white-space", settings.keep_white_space,
                     "With --objective mlm, tokenize each article as it is written, with its line ends, empty lines and "
                     "indentation, as for code; needs a tokenizer that keeps them. Each file of plain text is then an article, "
                     "unless --documents says otherwise");
    add_counts(command, settings);
    add_rules(command, settings);
}

void SampleOptions::add_counts(CLI::App& command, SampleSettings& settings) {
    command.add_option("--sequence-length", settings.sequence_length, "Tokens per row, including padding")->capture_default_str();
    max_predictions_ =
        command.add_option("--max-predictions", settings.max_predictions,
                           "Maximum number of masked tokens per row. Default: what --masked-lm-probability of a full row needs, "
                           "20 at 128 tokens and 80 at 512; with --compatible-with: 20");
    duplicate_factor_ = command.add_option("--duplicate-factor", settings.duplicate_factor,
                                           "Number of passes over each article, each with other rows and masks. With --objective "
                                           "mlm the passes differ only in their masks, and the default is 1; else 5");
    short_sequences_ = command.add_option("--short-sequence-probability", settings.short_seq_prob,
                                          "Share of articles to split into shorter rows. Default: 0.1; 0 with --objective mlm");
    command.add_option("--masked-lm-probability", settings.masked_lm_prob, "Share of a row's tokens to mask")
        ->capture_default_str();
    command.add_flag("--whole-word-masking", settings.whole_word_masking, "Mask either all pieces of a word or none");
    command
        .add_option("--mask-span", settings.mask_span,
                    "Number of neighbouring tokens, or with --whole-word-masking words, to mask together. For overlapping k-mers "
                    "it is k")
        ->capture_default_str();
    command
        .add_option_function<std::string>(
            "--mask-span-lengths",
            [&settings](const std::string& name) { settings.mask_span_lengths = choice_named<SpanLengths>(name); },
            "Lengths of the spans. fixed: all --mask-span long. geometric: random, at most --mask-span; shorter ones are more "
            "likely, as in SpanBERT (0.2 * 0.8^(l - 1), --mask-span 10)")
        ->check(CLI::IsMember({"fixed", "geometric"}))
        ->default_str("fixed");
    command.add_option("--seed", settings.seed, "Seed of all random choices")->capture_default_str();
}

void SampleOptions::add_rules(CLI::App& command, SampleSettings& settings) {
    cased_ = command.add_flag("--cased")->description("Keep case and accents. Default: as the vocabulary's tokens do");
    rules_ = add_rules_option(command, settings.token_rules);
    command
        .add_option("--compatible-with", settings.compatible_with,
                    "Reproduce a reference script's shards value for value, one per TEXT: nvidia or google")
        ->check(CLI::IsMember({"nvidia", "google"}));
}

void SampleOptions::resolve(SampleSettings& settings) const {
    const bool is_compatible = settings.compatible_with != "nothing";
    if (max_predictions_->count() == 0 && !is_compatible) settings.max_predictions = default_max_predictions(settings);
    warn_of_few_predictions(settings);
    if (cased_->count() > 0) settings.casing = "cased";
    if (is_compatible && rules_->count() == 0) settings.token_rules = settings.compatible_with;
    if (settings.has_labels()) return;
    if (duplicate_factor_->count() == 0) settings.duplicate_factor = 1;
    if (short_sequences_->count() == 0) settings.short_seq_prob = 0;
}

}  // namespace bertpretrain
