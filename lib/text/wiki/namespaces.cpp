#include "text/wiki/namespaces.h"

#include <charconv>
#include <set>
#include <string>
#include <vector>

#include "text/namespaces_tsv.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

/// Calls visit(part) for each part of `text` between separators.
template <class Visit>
void for_each_part(std::string_view text, char separator, const Visit& visit) {
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        if (end > begin) visit(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

struct Language {
    std::vector<std::string_view> fallbacks;
    Namespaces names;
};

using Languages = std::map<std::string_view, Language>;

/// Parses a field such as "6=Ficheiro|Imagem".
void add_names(std::string_view field, Namespaces& names) {
    const std::size_t equals = field.find('=');
    std::int64_t number = 0;
    std::from_chars(field.data(), field.data() + equals, number);
    for_each_part(field.substr(equals + 1), '|', [&](std::string_view name) { names.emplace(lower_text(name), number); });
}

Languages read_languages() {
    Languages languages;
    for_each_part(namespaces_tsv, '\n', [&](std::string_view line) {
        if (line.starts_with('#')) return;
        const std::size_t code_end = line.find('\t'), fallbacks_end = std::min(line.find('\t', code_end + 1), line.size());
        Language& language = languages[line.substr(0, code_end)];
        for_each_part(line.substr(code_end + 1, fallbacks_end - code_end - 1), ' ',
                      [&](std::string_view code) { language.fallbacks.push_back(code); });
        for_each_part(line.substr(fallbacks_end), '\t', [&](std::string_view field) { add_names(field, language.names); });
    });
    return languages;
}

const Languages& all_languages() {
    static const Languages languages = read_languages();
    return languages;
}

/// Adds a language's names, then those of its variants and fallbacks. A name that is already there keeps its number.
void add_language(std::string_view code, Namespaces& names, std::set<std::string_view>& done) {
    const Languages& languages = all_languages();
    const auto found = languages.find(code);
    if (found == languages.end() || !done.insert(found->first).second) return;
    names.insert(found->second.names.begin(), found->second.names.end());
    const std::string variants = std::string(code) + "-";
    for (auto variant = languages.lower_bound(variants); variant != languages.end() && variant->first.starts_with(variants);
         ++variant)
        names.insert(variant->second.names.begin(), variant->second.names.end());
    for (const std::string_view fallback : found->second.fallbacks) add_language(fallback, names, done);
}

Namespaces make_file_and_category_names() {
    Namespaces names;
    for (const auto& [code, language] : all_languages())
        for (const auto& [name, number] : language.names)
            if (number == 6 || number == -2 || number == 14) names.emplace(name, number);
    return names;
}

}  // namespace

Namespaces namespaces_of(std::string_view language) {
    Namespaces names = common_namespaces();
    std::set<std::string_view> done;
    const std::string code = lower_text(language);
    add_language(code, names, done);
    return names;
}

std::int64_t file_or_category_namespace(std::string_view name) {
    static const Namespaces names = make_file_and_category_names();
    const auto found = names.find(name);
    return found == names.end() ? 0 : found->second;
}

}  // namespace bertpretrain
