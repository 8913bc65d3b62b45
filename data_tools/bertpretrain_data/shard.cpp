#include "commands.h"
#include "input_options.h"
#include "sample_options.h"
#include "summaries.h"

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "shards/build/article_split.h"
#include "shards/build/shard_builder.h"
#include "text/no_document.h"
#include "tokens/models/folder_tokenizer.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/models/tokenizer_difference.h"
#include "tokens/models/vocabulary_casing.h"

namespace bertpretrain {
namespace {

/// Takes the tokens' file and the casing from a model's folder, as transformers reads all of its files.
/// @throws ConfigError for a folder without a tokenizer, or with one that its tokens' file and a casing do not define
void take_from_folder(ShardBuildSettings& settings) {
    const std::filesystem::path folder = settings.vocabulary;
    const auto found = read_folder_tokenizer(folder, settings.samples.casing == "cased");
    if (!found)
        throw ConfigError(concat(folder.string(), ": has no tokenizer.json, vocab.txt or tokenizer.model, expected one of them",
                                 "\n  do: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes what is missing"));
    for (const std::string& remark : found->remarks) log_warning(remark);
    const auto theirs = open_folder_tokenizer(*found);
    const Casing casing = theirs->vocabulary().own_casing().value_or(Casing::cased);
    settings.vocabulary = found->file;
    settings.samples.casing = casing_name(casing);
    const auto ours = open_tokenizer(found->file, settings.samples.casing == "cased" ? Casing::cased : Casing::uncased);
    if (const auto text = text_read_differently(*theirs, *ours))
        throw ConfigError(concat(folder.string(), ": its other files change how ", found->file.filename().string(),
                                 " reads text, such as \"", displayable(*text),
                                 "\" (do_lower_case, strip_accents, added tokens), ",
                                 "which shards do not record\n  do: name a tokenizer.json that says so itself"));
    if (theirs->vocabulary().specials() != ours->vocabulary().specials())
        throw ConfigError(concat(folder.string(), ": its other files name other tokens that begin, end, pad or mask a text than ",
                                 found->file.filename().string(),
                                 " does, which shards do not record\n  do: name a tokenizer.json ", "that says so itself"));
    log_info(concat("tokenizer: ", found->file.string(), ", ", with_thousands(theirs->vocabulary().size()), " tokens, ",
                    settings.samples.casing));
}

/// Takes the casing from the vocabulary. A reference script does not look at it, so then only a warning is logged.
void take_casing(ShardBuildSettings& settings) {
    const Vocabulary vocabulary = Vocabulary::read(settings.vocabulary);
    SampleSettings& samples = settings.samples;
    const bool wants_cased = samples.casing == "cased";
    if (samples.compatible_with == "nothing")
        samples.casing = casing_name(choose_casing(vocabulary, settings.vocabulary, wants_cased));
    else if (!wants_cased && !vocabulary.has_own_rules() && casing_of(vocabulary).is_cased())
        log_warning(concat(settings.vocabulary.string(), ": is a cased vocabulary, but without --cased the script of ",
                           "--compatible-with ", samples.compatible_with, " lowers the text"));
}

}  // namespace

void add_shard_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("shard", "Makes a folder of training and held-out shards from text and a vocabulary");
    const auto settings = std::make_shared<ShardBuildSettings>();
    SampleSettings& samples = settings->samples;
    command
        ->add_option("--vocabulary", settings->vocabulary,
                     "Vocabulary file with one token per line, a tokenizer.json of Hugging Face, a SentencePiece model, or a "
                     "model's folder with one of them")
        ->required();
    command->add_option("--output", settings->output, "Folder to write the shards, their vocabulary and manifest.json to")
        ->required();
    const SampleOptions sample_options(*command, samples);
    std::vector<const CLI::Option*> split_options;  // not available with --compatible-with
    split_options.push_back(command->add_option("--name", settings->name, "Prefix of the shards' names")->capture_default_str());
    split_options.push_back(command->add_option(
        "--shards", settings->shards,
        "Number of training shards. Default: one per 16 MiB of text, at most 256, and so few that a held-out shard has "
        "at least 8 articles"));
    split_options.push_back(
        command->add_option("--held-out-fraction", samples.held_out_fraction, "Share of the articles to hold out from training")
            ->capture_default_str());
    split_options.push_back(command->add_option("--held-out-shards", settings->held_out_shards,
                                                "Number of held-out shards; default: as many as --shards"));
    split_options.push_back(command
                                ->add_option("--group-mib", samples.group_mib,
                                             "Approximate MiB of text per group; random next sentences and shuffling stay "
                                             "within a group, which bounds memory")
                                ->capture_default_str());
    settings->most_unknown = 0.5;
    split_options.push_back(command
                                ->add_option("--max-unknown", settings->most_unknown,
                                             "Share of the text's tokens that may be [UNK]. Above it, no shards are made")
                                ->capture_default_str()
                                ->check(CLI::Range(0.0, 1.0)));
    const InputOptions reading(*command, "TEXT", settings->texts, settings->reading);
    command->add_option("--threads", settings->threads, "Number of threads; 0 means one per core")->capture_default_str();
    command->add_flag("--overwrite", settings->overwrite,
                      "Replace the manifest in the output folder and the shards that it lists");
    const auto allow_empty = std::make_shared<bool>(false);
    command->add_flag("--allow-empty", *allow_empty,
                      "If the inputs hold no document, or fewer articles than the shards need, make no shards and end with exit "
                      "code 0 instead of 3 or 2");
    const auto part = std::make_shared<std::string>();
    split_options.push_back(command->add_option(
        "--part", *part,
        "I/N: make only part I of N of the shards, with the same bytes as a whole build. Several processes or hosts make the "
        "parts, and `bertpretrain_data join` completes the folder"));
    const auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "Print the summary as a JSON object");
    command->callback([settings, json, part, allow_empty, sample_options, split_options, reading] {
        reading.finish();
        reading.require_inputs();
        if (!part->empty()) settings->part = BuildPart{parse_part(*part)};
        if (!part->empty() && settings->overwrite)
            throw ConfigError(
                "--overwrite cannot be combined with --part, because the parts write into one folder"
                "\n  do: remove the old folder, or choose another --output");
        SampleSettings& asked = settings->samples;
        sample_options.resolve(asked);
        if (asked.compatible_with != "nothing") {
            if (const std::string option = reading.first_given(); !option.empty())
                throw ConfigError(
                    concat(option, " cannot be combined with --compatible-with, which reads text as the script does"));
            for (const CLI::Option* option : split_options)
                if (option->count() > 0)
                    throw ConfigError(concat(option->get_name(),
                                             " cannot be combined with --compatible-with, which makes one shard of each text"));
            asked.held_out_fraction = 0;
        }
        if (asked.compatible_with == "nothing" && std::filesystem::is_directory(settings->vocabulary))
            take_from_folder(*settings);
        else take_casing(*settings);
        const auto made_none = [&](const Error& error) { log_warning(concat("no shards were made: ", error.what())); };
        try {
            print_summary(build_shards(*settings), *json);
        } catch (const NoDocumentError& error) {
            if (!*allow_empty) throw;
            made_none(error);
        } catch (const TooFewArticlesError& error) {
            if (!*allow_empty) throw;
            made_none(error);
        }
    });
}

}  // namespace bertpretrain
