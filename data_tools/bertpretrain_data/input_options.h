#pragma once
// The options of all commands that read documents.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "text/formats/input_settings.h"

namespace bertpretrain {

/// Describes the files that such a command takes.
inline constexpr const char* input_description =
    "Files, folders of them, addresses, or - for standard input, read in the given order: text, JSONL, CSV or TSV with a header, "
    "Parquet, FASTA, MediaWiki dumps, or WikiExtractor's output; each also compressed by gzip, bzip2 or zstd. Formats are "
    "recognized by content. Addresses are s3://BUCKET/KEY, s3://BUCKET/FOLDER/ (all objects below it), https://HOST/PATH, and "
    "hf://datasets/OWNER/NAME/PATH (a file or folder of a dataset of the Hugging Face hub)";

class InputOptions {
public:
    /// Adds the inputs, as arguments called `name`, and the options to a command. @param inputs,settings receive the values, and
    /// must live as long as the command  @param splits whether the command needs sentences, and so knows options for lines and
    /// sentences
    InputOptions(CLI::App& command, const std::string& name, std::vector<std::filesystem::path>& inputs, InputSettings& settings,
                 bool splits = true);

    /// Call it after the command line was read; adds the inputs of --inputs-from.
    /// @throws ConfigError when options contradict each other  @throws DataError when the list cannot be read
    void finish() const;
    /// @throws ConfigError when no input was given. Call it after finish().
    void require_inputs() const;
    /// @throws ConfigError when the list of --inputs-from is the file that the command writes
    void require_not_list(const std::filesystem::path& output) const;

    /// Returns the name of the first of these options that was given, or an empty text.
    std::string first_given() const;

private:
    void add_sentence_options(CLI::App& command);

    void read_list() const;

    std::string name_;
    std::vector<std::filesystem::path>* inputs_;
    InputSettings* settings_;
    std::shared_ptr<std::filesystem::path> list_ = std::make_shared<std::filesystem::path>();
    std::shared_ptr<std::string> rules_ = std::make_shared<std::string>(), lists_ = std::make_shared<std::string>("drop");
    std::vector<const CLI::Option*> options_;
};

}  // namespace bertpretrain
