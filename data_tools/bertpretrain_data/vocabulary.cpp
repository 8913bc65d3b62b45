#include "tokens/vocabulary/vocabulary.h"

#include <memory>
#include <set>

#include "commands.h"
#include "core/error.h"
#include "core/files/file_lock.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/threads.h"
#include "input_options.h"
#include "text/reader/extract.h"
#include "text/reader/input_files.h"
#include "text/reader/read_text.h"
#include "text/reader/text_lineage.h"
#include "tokens/models/vocabulary_casing.h"
#include "tokens/models/words.h"
#include "tokens/training/byte_pair_training.h"
#include "tokens/training/vocabulary_extension.h"
#include "tokens/training/vocabulary_training.h"
#include "tokens/training/word_counts.h"
#include "tokens/vocabulary/vocabulary_record.h"

namespace bertpretrain {
namespace {

struct VocabularyRequest {
    std::vector<std::filesystem::path> texts, files;  ///< as they were given, and the files that they name
    std::filesystem::path output;
    InputSettings reading;
    bool cased = false, keeps_white_space = false;
    std::size_t threads = available_cores();
    std::string model = "wordpiece";
    VocabularyTraining training;
    std::filesystem::path extended;  ///< empty: a vocabulary is trained from scratch
    VocabularyExtension extension;
    std::filesystem::path tokens;  ///< a list of the tokens to add; empty: they are learned from the text
};

/// @throws ConfigError when the options of training and of extending are mixed
void check_request(const VocabularyRequest& request, bool has_size) {
    const bool extends = !request.extended.empty();
    const bool learns = request.extension.additions > 0, lists = !request.tokens.empty();
    if (learns && lists)
        throw ConfigError(
            concat("--add ", request.extension.additions, " and --tokens ", request.tokens.string(),
                   ": were given together, expected one of them\n  do: pass --add N to learn N tokens from TEXT, or ",
                   "--tokens FILE to add those of a list; run the command twice for both"));
    if (!extends && (learns || lists))
        throw ConfigError(concat(learns ? "--add" : "--tokens", ": extends a vocabulary, but none was given\n  do: name it by ",
                                 "--extend FILE"));
    if (extends && has_size)
        throw ConfigError("--size and --extend: --size trains a vocabulary, --extend extends one; leave one out");
    if (!extends && !has_size)
        throw ConfigError(
            "--size: is missing\n  do: pass --size N to train a vocabulary of N tokens, or --extend FILE to extend one");
    if (extends && !learns && !lists)
        throw ConfigError(concat("--extend ", request.extended.string(),
                                 ": which tokens to add was not said\n  do: pass --add N to ",
                                 "learn N tokens from TEXT, or --tokens FILE to add those of a list"));
    if (request.texts.empty() && !lists) throw ConfigError("TEXT: is required, except with --tokens FILE");
    if (request.model == "bpe" && extends) throw ConfigError("--extend: extends WordPiece vocabularies only, not --model bpe");
    if (request.model == "bpe" && request.cased)
        throw ConfigError("--cased: leave it out, because --model bpe always keeps case and accents");
    if (request.keeps_white_space && request.model != "bpe")
        throw ConfigError("--keep-white-space: needs --model bpe, because WordPiece's words have no white space");
    if (!request.keeps_white_space && request.reading.documents != "auto")
        throw ConfigError("--documents: needs --keep-white-space; without it, words are counted line by line");
    if (!extends && request.extension.reuses_unused) throw ConfigError("--reuse-unused: needs --extend FILE");
}

Vocabulary vocabulary_to_extend(const std::filesystem::path& file) {
    Vocabulary vocabulary = Vocabulary::read(file);
    if (vocabulary.has_own_rules())
        throw ConfigError(concat("--extend ", file.string(), ": is ", kind_name(vocabulary.kind()), "; only ",
                                 kind_name(TokenizerKind::token_list), " can be extended"));
    return vocabulary;
}

/// Returns the tokens of --tokens that the vocabulary lacks, and warns of those that it has.
/// @throws DataError for a token that no text would give
std::vector<std::string> listed_tokens(const std::filesystem::path& file, const Vocabulary& vocabulary, Casing casing) {
    std::vector<std::string> tokens, known;
    std::set<std::string> seen;
    WordReader words(casing, TokenRules::huggingface);
    std::size_t number = 0;
    TextLines lines(file);
    for (std::string token; lines.next(token);) {
        ++number;
        if (token.empty()) continue;
        const bool continues = token.size() > continuation_prefix.size() && token.starts_with(continuation_prefix);
        const std::string text = continues ? token.substr(continuation_prefix.size()) : token;
        words.start(text);
        const std::string word(words.next());
        if (word != text || !words.next().empty())
            throw DataError(concat(file.string(), ":", number, ": \"", displayable(token), "\" is no word of ",
                                   casing_name(casing), " text, so no text would give this token; expected one word",
                                   casing == Casing::uncased ? " in small letters, without accents" : "",
                                   "\n  do: write each word on a line of its own, as the tokenizer splits it"));
        const bool is_known = vocabulary.find(token).has_value() || !seen.insert(token).second;
        (is_known ? known : tokens).push_back(token);
    }
    if (!known.empty()) {
        const std::size_t named = std::min<std::size_t>(known.size(), 10);
        const std::string names = join({known.begin(), known.begin() + static_cast<std::ptrdiff_t>(named)});
        log_warning(concat(file.string(), ": ", with_thousands(std::ssize(known)),
                           " of its tokens are in the vocabulary already, or occur twice: ", displayable(names),
                           known.size() > named ? ", ..." : ""));
    }
    if (tokens.empty()) throw DataError(concat(file.string(), ": has no token that the vocabulary lacks, expected one per line"));
    return tokens;
}

/// @param given whether the tokens come from a file, and not from the text
void report_extension(const Vocabulary& before, const Vocabulary& after, const WordCounts& counts, bool given) {
    const ExtensionSummary summary = summary_of(before, after, counts);
    if (given && summary.unused > 0)
        log_warning(concat(with_thousands(summary.unused), " of the ",
                           with_thousands(summary.words + summary.pieces + summary.characters),
                           " added tokens do not occur in the text: training on it leaves their rows as they begin"));
    log_info(concat("added words of the text: ", with_thousands(summary.words),
                    ", pieces of words: ", with_thousands(summary.pieces), ", characters: ", with_thousands(summary.characters),
                    "; tokens per word: ", fixed(summary.tokens_per_word_before, 3), " before, ",
                    fixed(summary.tokens_per_word_after, 3), " after; unknown words: ", fixed(100 * summary.unknown_before, 2),
                    " % before, ", fixed(100 * summary.unknown_after, 2), " % after"));
}

Vocabulary extended(const VocabularyRequest& request, const WordCounts& counts, Casing casing) {
    const Vocabulary before = vocabulary_to_extend(request.extended);
    VocabularyExtension extension = request.extension;
    extension.min_frequency = request.training.min_frequency;
    Vocabulary after = request.tokens.empty()
                           ? extend_vocabulary(before, counts, extension)
                           : extend_vocabulary(before, listed_tokens(request.tokens, before, casing), extension.reuses_unused);
    const auto added = static_cast<std::int64_t>(new_tokens(before, after)->size());
    if (added < extension.additions)
        log_warning(concat("only ", with_thousands(added), " tokens were added instead of ", with_thousands(extension.additions),
                           ": no other pair of pieces occurs ", extension.min_frequency, " times"));
    if (!counts.empty()) report_extension(before, after, counts, !request.tokens.empty());
    return after;
}

void warn_if_short(const VocabularyRequest& request, std::int64_t tokens) {
    if (tokens < request.training.size)
        log_warning(concat("the vocabulary has only ", with_thousands(tokens), " tokens instead of ",
                           with_thousands(request.training.size), ": no other pair of pieces occurs ",
                           request.training.min_frequency, " times"));
}

Vocabulary trained(const VocabularyRequest& request, const WordCounts& counts) {
    Vocabulary vocabulary = train_vocabulary(counts, request.training);
    warn_if_short(request, vocabulary.size());
    return vocabulary;
}

/// A vocabulary that is extended decides whether its text is cased.
Casing casing_of_text(const VocabularyRequest& request) {
    if (!request.extended.empty()) return choose_casing(vocabulary_to_extend(request.extended), request.extended, request.cased);
    return request.cased ? Casing::cased : Casing::uncased;
}

void report_counts(const VocabularyRequest& request, const WordCounts& counts) {
    if (counts.empty()) throw DataError(concat(request.texts.front().string(), ": the text contains no words"));
    std::int64_t words = 0;
    for (const auto& [word, count] : counts) words += count;
    log_info(concat("counted ", with_thousands(words), " words, ", with_thousands(static_cast<std::int64_t>(counts.size())),
                    " distinct"));
}

void report_written(const VocabularyRequest& request, std::int64_t tokens) {
    log_info(concat("wrote ", request.output.string(), " with ", with_thousands(tokens), " tokens"));
}

void run_byte_level(const VocabularyRequest& request) {
    const auto count = request.keeps_white_space ? count_kept_byte_level_words : count_byte_level_words;
    const WordCounts counts = count(request.files, trained_byte_level(), request.threads, request.reading);
    report_counts(request, counts);
    const std::string definition = train_byte_pairs(counts, {request.training.size, request.training.min_frequency});
    remove_text_lineage(request.output);  // of a file that is replaced
    write_atomically(request.output, definition);
    const std::int64_t tokens = Vocabulary::read(request.output).size();
    warn_if_short(request, tokens);
    report_written(request, tokens);
}

/// Finds the inputs, and refuses an output that would overwrite one of them. Extending a file in place would lose what its ids
/// meant.
void find_files(VocabularyRequest& request) {
    if (!request.texts.empty()) request.files = input_files(request.texts);
    std::vector<std::filesystem::path> inputs = request.files;
    for (const std::filesystem::path& file : {request.extended, request.tokens})
        if (!file.empty()) inputs.push_back(file);
    check_text_output(request.output, inputs);
}

void run(VocabularyRequest& request) {
    find_files(request);
    const OutputLock alone(request.output);
    if (request.model == "bpe") return run_byte_level(request);
    const Casing casing = casing_of_text(request);
    WordCounts counts;
    if (!request.texts.empty()) {
        counts = count_words(request.files, casing, request.threads, request.reading);
        report_counts(request, counts);
    }
    const Vocabulary vocabulary = request.extended.empty() ? trained(request, counts) : extended(request, counts, casing);
    remove_text_lineage(request.output);  // of a file that is replaced
    vocabulary.write(request.output);
    write_vocabulary_record(request.output, casing);
    report_written(request, vocabulary.size());
}

}  // namespace

void add_vocabulary_command(CLI::App& app) {
    const auto request = std::make_shared<VocabularyRequest>();
    CLI::App* const command =
        app.add_subcommand("vocabulary", "Trains a WordPiece vocabulary or a byte-level BPE on text, or extends a vocabulary");
    command
        ->add_option(
            "--model", request->model,
            "What to train. wordpiece: BERT's, written as a list of tokens. bpe: a byte-level BPE like RoBERTa's, written "
            "as a tokenizer.json; it keeps case and accents and knows every character")
        ->check(CLI::IsMember({"wordpiece", "bpe"}))
        ->capture_default_str();
    const CLI::Option* size =
        command->add_option("--size", request->training.size, "Number of tokens, including the five special ones")
            ->check(CLI::Range(1, 1'000'000'000));
    command->add_option("--extend", request->extended,
                        "Vocabulary file to extend instead: its tokens keep their ids, and tokens learned from TEXT follow them");
    command->add_option("--add", request->extension.additions, "With --extend, the number of tokens to add")
        ->check(CLI::Range(1, 1'000'000));
    command->add_option(
        "--tokens", request->tokens,
        "With --extend, a file with the tokens to add, one per line, instead of --add. TEXT is then only measured, and may "
        "be absent");
    command->add_flag("--reuse-unused", request->extension.reuses_unused,
                      "With --extend, put new tokens first in the places of BERT's [unused0], [unused1], ...");
    command
        ->add_option("--output", request->output,
                     "Vocabulary file to write, one token per line; with --model bpe, the tokenizer.json")
        ->required();
    command->add_flag("--cased", request->cased, "Keep case and accents");
    command
        ->add_option("--min-frequency", request->training.min_frequency,
                     "Merge only pairs of pieces that occur at least this often")
        ->capture_default_str()
        ->check(CLI::Range(1, 1'000'000'000));
    command->add_flag("--keep-white-space", request->keeps_white_space,
                      "With --model bpe, learn tokens of whole documents with their line ends and indentation, as for code; for "
                      "`shard --keep-white-space`");
    command
        ->add_option("--documents", request->reading.documents,
                     "With --keep-white-space, what a document of plain text is: empty-lines (they separate documents), files or "
                     "lines; auto: each file is one")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "empty-lines", "files", "lines"}));
    const InputOptions options(*command, "TEXT", request->texts, request->reading, false);
    command->add_option("--threads", request->threads, "Number of threads that count words")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    command->callback([request, size, options] {
        options.finish();
        check_request(*request, size->count() > 0);
        options.require_not_list(request->output);
        run(*request);
    });
}

}  // namespace bertpretrain
