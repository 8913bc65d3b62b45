#pragma once
// The options of all commands that read documents.

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "text/formats/input_settings.h"

namespace bertpretrain {

/// Describes the files that such a command takes.
inline constexpr const char* input_description =
    "Files, folders of them, or - for standard input, read in the given order: text, JSONL, CSV or TSV with a header, Parquet, "
    "FASTA, "
    "MediaWiki "
    "dumps, or WikiExtractor's output; each also compressed by gzip, bzip2 or zstd. Formats are recognized by content";

class InputOptions {
public:
    /// Adds the options to a command. @param settings receives the values, and must live as long as the command
    /// @param splits whether the command needs sentences, and so knows options for lines and sentences
    InputOptions(CLI::App& command, InputSettings& settings, bool splits = true);

    /// Call it after the command line was read. @throws ConfigError when options contradict each other
    void finish() const;

    /// Returns the name of the first of these options that was given, or an empty text.
    std::string first_given() const;

private:
    void add_sentence_options(CLI::App& command);

    InputSettings* settings_;
    std::shared_ptr<std::string> rules_ = std::make_shared<std::string>(), lists_ = std::make_shared<std::string>("drop");
    std::vector<const CLI::Option*> options_;
};

}  // namespace bertpretrain
