#include <cerrno>
#include <charconv>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "commands.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/threads/task_pool.h"
#include "core/threads/threads.h"
#include "text/content/byte_source.h"
#include "text/formats/fasta_records.h"
#include "text/line_ends.h"
#include "text/reader/document_reader.h"
#include "text/reader/read_text.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/training/line_blocks.h"

namespace bertpretrain {
namespace {

struct TokenizeRequest {
    std::filesystem::path vocabulary, text = standard_input;
    bool cased = false;
    std::string rules = "huggingface";
    bool has_rules = false;  ///< whether the rules were given
    std::size_t threads = available_cores();
};

/// Returns a line of ids for every line of `block`.
std::string ids_as_text(const Tokenizer& tokenizer, std::string_view block) {
    constexpr std::size_t longest_id = 11;  // including the space after it
    std::string out;
    std::vector<std::int32_t> ids;
    for_each_line(block, [&](std::string_view line) {
        ids.clear();
        tokenizer.encode(line, ids);
        const std::size_t begin = out.size();
        out.resize(begin + ids.size() * longest_id + 1);
        char* end = out.data() + begin;
        for (const std::int32_t id : ids) {
            end = std::to_chars(end, end + longest_id, id).ptr;
            *end++ = ' ';
        }
        if (!ids.empty()) --end;
        *end++ = '\n';
        out.resize(static_cast<std::size_t>(end - out.data()));
    });
    return out;
}

/// Reads the next lines; returns false after the last one.
using NextBlock = std::function<bool(std::string& block)>;

/// The lines of a text, about 256 KiB at once.
NextBlock blocks_of_lines(const std::filesystem::path& text) {
    return [lines = std::make_shared<TextLines>(text)](std::string& block) {
        constexpr std::size_t block_bytes = std::size_t{1} << 18;
        block.clear();
        for (std::string line; block.size() < block_bytes && lines->next(line);) block.append(line).push_back('\n');
        return !block.empty();
    };
}

/// The sequences of a FASTA file, one per line.
NextBlock blocks_of_sequences(const std::filesystem::path& file, TaskPool& pool) {
    return [reader = std::make_shared<DocumentReader>(std::vector{file}, InputSettings{}, pool)](std::string& block) {
        block.clear();
        const std::optional<DocumentBatch> batch = reader->next();
        if (batch)
            for (const Document& document : batch->documents) block += document.text;
        return batch.has_value();
    };
}

bool is_fasta_file(const std::filesystem::path& file) {
    constexpr std::size_t few_bytes = 4096;
    return can_be_read_again(file) && is_fasta(with_newlines(std::string(ByteSource(file).peek(few_bytes))));
}

/// Tokenizes blocks of lines on `threads` threads and writes their ids in order to standard output.
void tokenize(const std::filesystem::path& text, const Tokenizer& tokenizer, std::size_t threads) {
    constexpr std::size_t blocks_per_thread = 4;
    TaskPool pool(threads);
    const NextBlock next_block = is_fasta_file(text) ? blocks_of_sequences(text, pool) : blocks_of_lines(text);
    std::deque<std::future<std::string>> in_work;
    const auto write_until = [&](std::size_t left) {
        for (; in_work.size() > left; in_work.pop_front()) std::cout << pool.wait(in_work.front());
        if (!std::cout) throw DataError(failed_write("standard output", errno));
    };
    for (std::string block; next_block(block); write_until(threads == 1 ? 0 : threads * blocks_per_thread))
        in_work.push_back(pool.submit([&tokenizer, block = std::move(block)] { return ids_as_text(tokenizer, block); }));
    write_until(0);
    std::cout.flush();
    if (!std::cout) throw DataError(failed_write("standard output", errno));
}

void run(const TokenizeRequest& request) {
    const auto tokenizer = open_tokenizer(request.vocabulary, request.cased,
                                          request.has_rules ? std::optional(token_rules_named(request.rules)) : std::nullopt);
    tokenize(request.text, *tokenizer, request.threads);
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
    const auto request = std::make_shared<TokenizeRequest>();
    CLI::App* const command =
        app.add_subcommand("tokenize", "Prints one line of token ids per line of text, or per sequence of FASTA");
    command->add_option(
        "FILE", request->text,
        "Text file in UTF-8, or FASTA, whose letters are words, or the s3://, https:// or hf:// address of one; default, or as "
        "-: text of standard input");
    command
        ->add_option("--vocabulary", request->vocabulary,
                     "Vocabulary file with one token per line, a tokenizer.json, or a SentencePiece model")
        ->required();
    command->add_flag("--cased", request->cased, "Keep case and accents. Default: as the vocabulary's tokens do");
    const CLI::Option* rules = add_rules_option(*command, request->rules);
    command->add_option("--threads", request->threads, "Number of threads")->capture_default_str()->check(CLI::Range(1, 1024));
    command->callback([request, rules] {
        request->has_rules = rules->count() > 0;
        run(*request);
    });
}

}  // namespace bertpretrain
