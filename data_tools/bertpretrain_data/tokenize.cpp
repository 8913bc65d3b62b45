#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

#include "commands.h"
#include "core/error.h"
#include "core/threads.h"
#include "tokens/line_blocks.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {
namespace {

struct TokenizeRequest {
    std::filesystem::path vocabulary, text;
    bool cased = false;
    std::string rules = "huggingface";
    std::size_t threads = available_cores();
};

/// A line of ids for every line of `block`.
std::string ids_as_text(const WordPiece& wordpiece, std::string_view block) {
    std::string out;
    std::vector<std::int32_t> ids;
    for_each_line(block, [&](std::string_view line) {
        ids.clear();
        wordpiece.encode(line, ids);
        for (const std::int32_t id : ids) {
            char digits[16];
            out.append(digits, std::to_chars(std::begin(digits), std::end(digits), id).ptr) += ' ';
        }
        if (!ids.empty()) out.pop_back();
        out += '\n';
    });
    return out;
}

void tokenize(std::istream& in, const std::string& name, const WordPiece& wordpiece, std::size_t threads) {
    LineBlocks lines(in, name);
    for (std::vector<std::string> blocks;;) {
        blocks.assign(threads, "");
        std::size_t count = 0;
        while (count < threads && lines.next(blocks[count])) ++count;
        if (count == 0) break;
        for_each_index(count, threads, [&](std::size_t i) { blocks[i] = ids_as_text(wordpiece, blocks[i]); });
        for (std::size_t i = 0; i < count; ++i) std::cout << blocks[i];
    }
    std::cout.flush();
    if (!std::cout) throw DataError(concat("standard output: cannot be written (", std::strerror(errno), ")"));
}

void run(const TokenizeRequest& request) {
    const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(request.vocabulary));
    const WordPiece wordpiece(vocabulary, request.cased ? Casing::cased : Casing::uncased, token_rules_named(request.rules));
    if (request.text.empty()) {
        tokenize(std::cin, "standard input", wordpiece, request.threads);
        return;
    }
    std::ifstream in(request.text, std::ios::binary);
    if (!in || std::filesystem::is_directory(request.text))
        throw DataError(concat(request.text.string(), ": cannot be read (", std::strerror(in ? EISDIR : errno), ")"));
    tokenize(in, request.text.string(), wordpiece, request.threads);
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
    const auto request = std::make_shared<TokenizeRequest>();
    CLI::App* const command = app.add_subcommand("tokenize", "Prints one line of token ids per line of text");
    command->add_option("FILE", request->text, "UTF-8 text; standard input when absent");
    command->add_option("--vocabulary", request->vocabulary, "vocab.txt, one token per line")->required();
    command->add_flag("--cased", request->cased, "Keep case and accents");
    add_rules_option(*command, request->rules);
    command->add_option("--threads", request->threads, "Threads")->capture_default_str()->check(CLI::Range(1, 1024));
    command->callback([request] { run(*request); });
}

}  // namespace bertpretrain
