#include <iostream>

#include "commands.h"

#include "core/error.h"
#include "core/log.h"
#include "core/strings.h"
#include "core/table.h"
#include "shards/build_request.h"
#include "shards/shard_builder.h"

namespace bertpretrain {
namespace {

void print_summary(const ShardBuildReport& report) {
    Table table({"part", "shards", "rows", "tokens", "masked", "mean length"});
    for (const ShardKind kind : {ShardKind::training, ShardKind::held_out}) {
        std::int64_t shards = 0, rows = 0, tokens = 0, masked = 0;
        for (const ShardRecord& shard : report.manifest.shards) {
            if (shard_kind(shard.file) != kind) continue;
            ++shards;
            rows += shard.rows;
            tokens += shard.tokens;
            masked += shard.masked;
        }
        if (shards == 0) continue;
        const auto ratio = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); };
        table.add({kind == ShardKind::training ? "training" : "held out", with_thousands(shards), with_thousands(rows),
                   with_thousands(tokens), fixed(100 * ratio(masked, tokens), 2) + " %", fixed(ratio(tokens, rows), 1)});
    }
    std::cout << table.text() << with_thousands(static_cast<std::int64_t>(report.articles)) << " articles, "
              << bytes_text(report.text_bytes) << " of text in " << duration_text(report.seconds) << " ("
              << fixed(static_cast<double>(report.text_bytes) / 1e6 / report.seconds, 2) << " MB/s), unigram cross-entropy "
              << fixed(report.manifest.unigram_cross_entropy, 4) << " nats\n";
}

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

void add_shard_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("shard", "Makes a folder of training and held-out shards from text and a vocabulary");
    const auto settings = std::make_shared<ShardBuildSettings>();
    const auto cased = std::make_shared<bool>(false);
    SampleSettings& samples = settings->samples;
    command->add_option("TEXT", settings->texts, "Text files: one sentence per line, an empty line after each article")
        ->required();
    command->add_option("--vocabulary", settings->vocabulary, "Vocabulary file, one token per line")->required();
    command->add_option("--output", settings->output, "Folder to write the shards, vocab.txt and manifest.json to")->required();
    std::vector<const CLI::Option*> split_options;  // not available with --compatible-with
    split_options.push_back(command->add_option("--name", settings->name, "Prefix of the shards' names")->capture_default_str());
    command->add_option("--sequence-length", samples.sequence_length, "Tokens per row, including padding")->capture_default_str();
    const CLI::Option* predictions =
        command->add_option("--max-predictions", samples.max_predictions,
                            "Maximum number of masked tokens per row. Default: what --masked-lm-probability of a full row needs, "
                            "20 at 128 tokens and 80 at 512; with --compatible-with: 20");
    command
        ->add_option("--duplicate-factor", samples.duplicate_factor,
                     "Number of passes over each article, each with other rows and masks")
        ->capture_default_str();
    command->add_option("--seed", samples.seed, "Seed of all random choices")->capture_default_str();
    split_options.push_back(
        command->add_option("--shards", settings->shards, "Number of training shards")->capture_default_str());
    split_options.push_back(
        command->add_option("--held-out-fraction", samples.held_out_fraction, "Share of the articles to hold out from training")
            ->capture_default_str());
    split_options.push_back(command->add_option("--held-out-shards", settings->held_out_shards,
                                                "Number of held-out shards; default: as many as --shards"));
    command->add_option("--masked-lm-probability", samples.masked_lm_prob, "Share of a row's tokens to mask")
        ->capture_default_str();
    command->add_option("--short-sequence-probability", samples.short_seq_prob, "Share of articles to split into shorter rows")
        ->capture_default_str();
    command->add_option("--threads", settings->threads, "Number of threads; 0 means one per core")->capture_default_str();
    command->add_flag("--cased", *cased, "Keep case and accents; use it with a cased vocabulary");
    command->add_flag("--whole-word-masking", samples.whole_word_masking, "Mask either all pieces of a word or none");
    CLI::Option* rules = add_rules_option(*command, samples.token_rules);
    command
        ->add_option("--compatible-with", samples.compatible_with,
                     "Reproduce a reference script's shards value for value, one per TEXT: nvidia or google")
        ->check(CLI::IsMember({"nvidia", "google"}));
    split_options.push_back(command
                                ->add_option("--group-mib", samples.group_mib,
                                             "Approximate MiB of text per group; random next sentences and shuffling stay "
                                             "within a group, which bounds memory")
                                ->capture_default_str());
    command->add_flag("--overwrite", settings->overwrite,
                      "Replace the manifest in the output folder and the shards that it lists");
    command->callback([settings, cased, rules, predictions, split_options] {
        SampleSettings& asked = settings->samples;
        if (predictions->count() == 0 && asked.compatible_with == "nothing")
            asked.max_predictions = default_max_predictions(asked);
        warn_of_few_predictions(asked);
        if (*cased) asked.casing = "cased";
        if (asked.compatible_with != "nothing") {
            if (rules->count() == 0) asked.token_rules = asked.compatible_with;
            for (const CLI::Option* option : split_options)
                if (option->count() > 0)
                    throw ConfigError(concat(option->get_name(),
                                             " cannot be combined with --compatible-with, which makes one shard of each text"));
            asked.held_out_fraction = 0;
        }
        print_summary(build_shards(*settings));
    });
}

}  // namespace bertpretrain
