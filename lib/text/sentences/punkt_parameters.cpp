#include "text/sentences/punkt_parameters.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>

#include "core/error.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// Calls body("FILE:NUMBER", line) for every line that is not empty.
void for_each_line(const fs::path& file, const std::function<void(const std::string&, const std::string&)>& body) {
    std::ifstream in(file);
    if (!in)
        throw ConfigError(concat(file.string(),
                                 ": cannot be read; --punkt-parameters expects a folder with abbrev_types.txt, "
                                 "collocations.tab, sent_starters.txt and ortho_context.tab"));
    std::int64_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (!line.empty()) body(concat(file.string(), ":", number), line);
    }
}

}  // namespace

PunktParameters PunktParameters::read(const fs::path& folder) {
    PunktParameters parameters;
    for_each_line(folder / "abbrev_types.txt",
                  [&](const std::string&, const std::string& line) { parameters.abbreviations.insert(line); });
    for_each_line(folder / "sent_starters.txt",
                  [&](const std::string&, const std::string& line) { parameters.sentence_starters.insert(line); });
    for_each_line(folder / "collocations.tab", [&](const std::string& where, const std::string& line) {
        if (std::count(line.begin(), line.end(), '\t') != 1)
            throw DataError(concat(where, ": expected two words with a tab between them, found \"", line, "\""));
        parameters.collocations.insert(line);
    });
    for_each_line(folder / "ortho_context.tab", [&](const std::string& where, const std::string& line) {
        const std::size_t tab = line.rfind('\t');
        int bits = 0;
        const char* end = line.data() + line.size();
        const char* begin = tab == std::string::npos ? end : line.data() + tab + 1;
        if (begin == end || std::from_chars(begin, end, bits).ptr != end || bits < 0 || bits > (any_upper | any_lower))
            throw DataError(
                concat(where, ": expected a word, a tab and a number up to ", any_upper | any_lower, ", found \"", line, "\""));
        parameters.orthography[line.substr(0, tab)] = bits;
    });
    return parameters;
}

}  // namespace bertpretrain
