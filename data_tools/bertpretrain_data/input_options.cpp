#include "input_options.h"

#include <algorithm>
#include <system_error>

#include "core/error.h"
#include "text/content/byte_source.h"
#include "text/formats/record_fields.h"
#include "text/reader/read_text.h"

namespace bertpretrain {

InputOptions::InputOptions(CLI::App& command, const std::string& name, std::vector<std::filesystem::path>& inputs,
                           InputSettings& settings, bool splits)
    : name_(name), inputs_(&inputs), settings_(&settings) {
    command.add_option(name, inputs, input_description);
    command.add_option("--inputs-from", *list_,
                       "File that lists further inputs, one per line, which are read after those of the command line; -: list on "
                       "standard input");
    const auto add = [&](const char* option_name, auto& value, const char* description) {
        CLI::Option* option = command.add_option(option_name, value, description)->capture_default_str();
        options_.push_back(option);
        return option;
    };
    add("--format", settings.format,
        "Format of all inputs: text, jsonl, csv, tsv, parquet, fasta or wikipedia; auto recognizes it by content")
        ->check(CLI::IsMember({"auto", "text", "jsonl", "csv", "tsv", "parquet", "fasta", "wikipedia"}));
    add("--letters", settings.letters,
        "apart: put a space after each letter, so that it is a word, as for DNA and proteins; together: leave the text as it is; "
        "auto: "
        "apart in FASTA")
        ->check(CLI::IsMember({"auto", "apart", "together"}));
    add("--text-field", settings.text_field,
        "Field of JSONL, CSV, TSV and Parquet that holds the text. A dot reaches into an object (product.body); commas join the "
        "texts of "
        "several fields by line ends (title,body)");
    add("--id-field", settings.id_field,
        "Field of JSONL, CSV, TSV and Parquet that holds a document's id, for reports; a dot reaches into an object");
    add("--encoding", settings.encoding,
        "Encoding of all inputs but dumps and Parquet, such as latin-1 or utf-16, if it is not UTF-8; a byte order mark of UTF-8 "
        "counts "
        "more");
    add("--max-bad", settings.most_bad,
        "Share of malformed records of JSONL, CSV, TSV and Parquet that is tolerated; 0.001 means 0.1 %. They are counted and "
        "left out")
        ->check(CLI::Range(0.0, 1.0));
    options_.push_back(command.add_flag(
        "--tidy", settings.prose.tidies,
        "Remove the gaps that templates of dumps leave, e.g. \"Moon (, ) is\"; by default they stay, as in WikiExtractor"));
    add("--lists", *lists_,
        "What becomes of list items of dumps: drop, as in WikiExtractor, or keep, each item as a paragraph of its own")
        ->check(CLI::IsMember({"keep", "drop"}));
    if (splits) add_sentence_options(command);
}

void InputOptions::add_sentence_options(CLI::App& command) {
    const auto add = [&](const char* name, auto& value, const char* description) {
        CLI::Option* option = command.add_option(name, value, description);
        options_.push_back(option);
        return option;
    };
    add("--documents", settings_->documents,
        "What a document of plain text is: empty-lines (they separate documents), files or lines; auto decides it from a sample")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "empty-lines", "files", "lines"}));
    add("--lines", settings_->lines,
        "What a line of a text is: sentences, paragraphs, or wrapped (a paragraph goes on until an empty line); auto decides it "
        "from a sample")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "sentences", "paragraphs", "wrapped"}));
    add("--sentences", *rules_,
        "How to split paragraphs: english (built-in rules), punkt (learned from the inputs first), or none (each line stays as "
        "it "
        "is)")
        ->check(CLI::IsMember({"english", "punkt", "none"}))
        ->default_str("english");
    add("--punkt-parameters", settings_->sentences.parameters,
        "Folder with Punkt parameters as published by NLTK; implies --sentences punkt, without learning");
}

/// Appends the inputs that the file of --inputs-from lists.
void InputOptions::read_list() const {
    if (*list_ == standard_input && std::ranges::find(*inputs_, standard_input) != inputs_->end())
        throw ConfigError("--inputs-from -: standard input is an input too, but can be read only once");
    TextLines lines(*list_);
    for (std::string line; lines.next(line);)
        if (!line.empty()) inputs_->emplace_back(line);
}

void InputOptions::require_inputs() const {
    if (inputs_->empty())
        throw ConfigError(list_->empty() ? concat(name_, ": is required, except with --inputs-from FILE")
                                         : concat("--inputs-from ", list_->string(), ": lists no input, expected one per line"));
}

void InputOptions::require_not_list(const std::filesystem::path& output) const {
    if (std::error_code missing; !list_->empty() && std::filesystem::equivalent(*list_, output, missing))
        throw ConfigError(concat("--output ", output.string(), ": would overwrite the list of --inputs-from"));
}

void InputOptions::finish() const {
    if (!list_->empty()) read_list();
    check_text_fields(settings_->text_field);
    settings_->prose.keeps_lists = *lists_ == "keep";
    if ((*rules_ == "english" || *rules_ == "none") && settings_->sentences.parameters)
        throw ConfigError(concat("--sentences ", *rules_, " cannot be combined with --punkt-parameters; use one of the two"));
    if (*rules_ == "none" && settings_->lines != "auto" && settings_->lines != "sentences")
        throw ConfigError(concat("--sentences none cannot be combined with --lines ", settings_->lines,
                                 ", whose paragraphs would have to be split"));
    settings_->sentences.punkt = *rules_ == "punkt";
    settings_->sentences.none = *rules_ == "none";
}

std::string InputOptions::first_given() const {
    for (const CLI::Option* option : options_)
        if (option->count() > 0) return option->get_name();
    return {};
}

}  // namespace bertpretrain
