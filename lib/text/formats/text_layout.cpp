#include "text/formats/text_layout.h"

#include <algorithm>

#include "core/concat.h"
#include "text/formats/kept_lines.h"
#include "text/line_ends.h"
#include "text/sentences/sentence_stops.h"
#include "text/sentences/sentences.h"
#include "text/utf8.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

constexpr std::string_view blank_bytes = " \t\r\n\v\f";
constexpr std::size_t least_wrapped_lines = 20;

template <class Visit>
void for_each_bare_line(std::string_view text, const Visit& visit) {
    for_each_universal_line(text, [&](std::string_view line) { visit(stripped(line)); });
}

bool ends_in_stop(std::string_view line) {
    for (std::size_t end = line.size(); end > 0;) {
        const char32_t c = previous_code_point(line, end);
        if (c == '.' || c == '?' || c == '!' || c == ':' || is_sure_stop(c)) return true;
        if (!is_closing_mark(c)) return false;
    }
    return false;
}

}  // namespace

void LayoutSample::add(std::string_view text) {
    for_each_universal_line(text, [&](std::string_view line) {
        if (!is_blank_line(line) && ascii_white_space.find(line.front()) != std::string_view::npos) ++indented_;
    });
    std::vector<std::string_view> block;
    for_each_bare_line(text, [&](std::string_view line) {
        if (!line.empty()) return block.push_back(line);
        add_block(block);
        block.clear();
    });
    add_block(block);
}

void LayoutSample::add_block(const std::vector<std::string_view>& lines) {
    if (lines.empty()) return;
    static const SentenceSplitter splitter;
    ++blocks_;
    if (lines.size() == 1) ++single_lines_;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        ++lines_;
        if (splitter.split(lines[i]).size() > 1) ++long_lines_;
        if (i + 1 == lines.size()) break;
        const std::size_t word = std::min(lines[i + 1].find_first_of(blank_bytes), lines[i + 1].size());
        inner_.push_back({static_cast<std::uint32_t>(lines[i].size()), static_cast<std::uint32_t>(word), ends_in_stop(lines[i])});
    }
}

bool LayoutSample::is_wrapped() const {
    if (inner_.size() < least_wrapped_lines || 20 * long_lines_ < lines_) return false;
    std::vector<std::uint32_t> columns;
    for (const InnerLine& line : inner_) columns.push_back(line.columns);
    const auto at = columns.begin() + static_cast<std::ptrdiff_t>(columns.size() * 95 / 100);
    std::nth_element(columns.begin(), at, columns.end());
    const std::uint32_t width = *at;
    std::size_t unfinished = 0, full = 0;
    for (const InnerLine& line : inner_) {
        if (!line.ends_sentence) ++unfinished;
        if (line.columns + 1 + line.next_word > width) ++full;
    }
    return 2 * unfinished > inner_.size() && 3 * full > 2 * inner_.size();
}

TextLayout LayoutSample::layout(const InputSettings& settings) const {
    using Lines = TextLayout::Lines;
    using Documents = TextLayout::Documents;
    TextLayout layout;
    if (settings.lines == "as_written") layout.lines = Lines::as_written;
    else if (settings.lines == "kept") layout.lines = Lines::kept;
    else if (settings.sentences.none || settings.lines == "sentences") layout.lines = Lines::sentences;
    else if (settings.lines == "paragraphs") layout.lines = Lines::paragraphs;
    else if (settings.lines == "wrapped" || is_wrapped()) layout.lines = Lines::wrapped;
    else layout.lines = !empty() && 10 * long_lines_ <= lines_ ? Lines::sentences : Lines::paragraphs;
    const bool stand_alone = layout.lines == Lines::paragraphs && files_ > 1 && 2 * single_lines_ > blocks_;
    if (settings.documents == "files") layout.documents = Documents::files;
    else if (settings.documents == "lines") layout.documents = Documents::lines;
    else if (settings.documents == "auto" && (layout.lines == Lines::wrapped || layout.lines == Lines::kept || stand_alone))
        layout.documents = Documents::files;
    return layout;
}

std::string description_of(const TextLayout& layout, bool is_plain_text) {
    constexpr std::string_view documents[] = {"documents are separated by empty lines", "each file is a document",
                                              "each line is a document"};
    constexpr std::string_view lines[] = {"each line of a text is a sentence", "each line of a text is a paragraph",
                                          "a paragraph goes on until the next empty line", "texts stay as they are written",
                                          "texts keep their line ends and white space"};
    const std::string_view line = lines[static_cast<std::size_t>(layout.lines)];
    if (!is_plain_text) return std::string(line);
    return concat(documents[static_cast<std::size_t>(layout.documents)], "; ", line);
}

std::string tidy_lines(std::string_view text, TextLayout::Lines lines) {
    if (lines == TextLayout::Lines::as_written) return std::string(text);
    if (lines == TextLayout::Lines::kept) return kept_lines(text);
    std::string tidied;
    tidied.reserve(text.size() + 1);
    bool continues = false;  // inside a wrapped paragraph
    for_each_bare_line(text, [&](std::string_view line) {
        if (continues) tidied.back() = line.empty() ? '\n' : ' ';
        if (!line.empty()) tidied.append(line) += '\n';
        continues = lines == TextLayout::Lines::wrapped && !line.empty();
    });
    return tidied;
}

}  // namespace bertpretrain
