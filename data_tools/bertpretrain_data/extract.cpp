#include "commands.h"

#include <iostream>
#include <memory>

#include "core/error.h"
#include "core/strings.h"
#include "core/table.h"
#include "text/extract.h"

namespace bertpretrain {
namespace {

void print(const ExtractCounts& counts) {
    Table table({"extracted", ""});
    table.add({"pages", with_thousands(counts.pages)});
    table.add({"articles kept", with_thousands(counts.articles)});
    table.add({"redirects", with_thousands(counts.redirects)});
    table.add({"other namespaces", with_thousands(counts.other_pages)});
    table.add({"too short", with_thousands(counts.short_articles)});
    table.add({"sentences", with_thousands(counts.sentences)});
    table.add({"bytes read", with_thousands(static_cast<std::int64_t>(counts.bytes_read))});
    table.add({"bytes written", with_thousands(static_cast<std::int64_t>(counts.bytes_written))});
    table.add({"seconds", fixed(counts.seconds, 1)});
    std::cout << table.text();
}

}  // namespace

void add_extract_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "extract", "Extracts text from Wikipedia dumps: one sentence per line, an empty line after each article");
    auto settings = std::make_shared<ExtractSettings>();
    command
        ->add_option("dumps", settings->dumps,
                     "MediaWiki export files (.xml, .xml.bz2, .xml.gz), WikiExtractor's files or folders of them, or - for "
                     "standard input; read in the given order")
        ->required();
    command->add_option("--output", settings->output, "Text file to write; it appears only when it is complete")->required();
    command->add_option("--minimum-sentences", settings->minimum_sentences, "Omit articles with fewer sentences than this")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    const auto rules = std::make_shared<std::string>();
    command
        ->add_option("--sentences", *rules,
                     "How to split sentences: english (built-in rules) or punkt (learned from the dumps first)")
        ->check(CLI::IsMember({"english", "punkt"}))
        ->default_str("english");
    command->add_option("--punkt-parameters", settings->sentences.parameters,
                        "Folder with Punkt parameters as published by NLTK; implies --sentences punkt, without learning");
    const auto lists = std::make_shared<std::string>("drop");
    command
        ->add_option("--lists", *lists,
                     "What becomes of list items: drop, as in WikiExtractor, or keep, each item as a paragraph of its own")
        ->check(CLI::IsMember({"keep", "drop"}))
        ->capture_default_str();
    command->add_flag("--tidy", settings->prose.tidies,
                      "Remove the gaps that templates leave, e.g. \"Moon (, ) is\"; by default they stay, as in WikiExtractor");
    command->add_option("--threads", settings->threads, "Number of threads; the output does not depend on it")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    command->callback([settings, rules, lists] {
        if (*rules == "english" && settings->sentences.parameters)
            throw ConfigError("--sentences english cannot be combined with --punkt-parameters; use one of the two");
        settings->prose.keeps_lists = *lists == "keep";
        settings->sentences.punkt = *rules == "punkt";
        print(extract(*settings));
    });
}

}  // namespace bertpretrain
