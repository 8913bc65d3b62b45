#include "tokens/vocabulary.h"

#include <memory>

#include "commands.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/strings.h"
#include "core/threads.h"
#include "tokens/vocabulary_training.h"
#include "tokens/word_counts.h"

namespace bertpretrain {
namespace {

struct VocabularyRequest {
    std::vector<std::filesystem::path> texts;
    std::filesystem::path output;
    bool cased = false;
    std::size_t threads = available_cores();
    VocabularyTraining training;
};

void run(const VocabularyRequest& request) {
    make_writable_folder(request.output.has_parent_path() ? request.output.parent_path() : ".");
    const WordCounts counts = count_words(request.texts, request.cased ? Casing::cased : Casing::uncased, request.threads);
    if (counts.empty()) throw DataError(concat(request.texts.front().string(), ": the text contains no words"));
    std::int64_t words = 0;
    for (const auto& [word, count] : counts) words += count;
    log_info(concat("counted ", with_thousands(words), " words, ", with_thousands(static_cast<std::int64_t>(counts.size())),
                    " distinct"));
    const Vocabulary vocabulary = train_vocabulary(counts, request.training);
    if (vocabulary.size() < request.training.size)
        log_warning(concat("the vocabulary has only ", with_thousands(vocabulary.size()), " tokens instead of ",
                           with_thousands(request.training.size), ": no other pair of pieces occurs ",
                           request.training.min_frequency, " times"));
    vocabulary.write(request.output);
    log_info(concat("wrote ", request.output.string(), " with ", with_thousands(vocabulary.size()), " tokens"));
}

}  // namespace

void add_vocabulary_command(CLI::App& app) {
    const auto request = std::make_shared<VocabularyRequest>();
    CLI::App* const command = app.add_subcommand("vocabulary", "Trains a WordPiece vocabulary on text");
    command->add_option("TEXT", request->texts, "UTF-8 text files")->required();
    command->add_option("--size", request->training.size, "Number of tokens, including the five special ones")
        ->required()
        ->check(CLI::Range(1, 1'000'000'000));
    command->add_option("--output", request->output, "Vocabulary file to write, one token per line")->required();
    command->add_flag("--cased", request->cased, "Keep case and accents");
    command
        ->add_option("--min-frequency", request->training.min_frequency,
                     "Merge only pairs of pieces that occur at least this often")
        ->capture_default_str()
        ->check(CLI::Range(1, 1'000'000'000));
    command->add_option("--threads", request->threads, "Number of threads that count words")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    command->callback([request] { run(*request); });
}

}  // namespace bertpretrain
