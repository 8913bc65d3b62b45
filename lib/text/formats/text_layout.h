#pragma once
// What a line and an empty line mean in the files of a corpus: decided once, from a sample.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/formats/input_settings.h"

namespace bertpretrain {

struct TextLayout {
    enum class Documents { empty_lines, files, lines };
    enum class Lines { sentences, paragraphs, wrapped, as_written, kept };
    Documents documents = Documents::empty_lines;  ///< what separates documents of plain text
    Lines lines = Lines::sentences;  ///< wrapped: a paragraph goes on until the next empty line; as_written: not tidied; kept:
                                     ///< not tidied, in the lines of kept_lines.h
};

/// A sample of the texts of one format.
class LayoutSample {
public:
    /// Adds a piece of a text, in whole lines.
    void add(std::string_view text);
    /// Call it before the pieces of each file of plain text.
    void begin_file() { ++files_; }
    /// Call it for the head of each file. @param judged how many of its bytes were whole lines or records, and were added
    void count_head(std::size_t bytes, std::size_t judged) {
        head_bytes_ += bytes;
        judged_bytes_ += judged;
    }
    bool empty() const { return lines_ == 0; }
    /// Whether at least half of the heads' bytes were judged. Else long records were left out, and others decide for them.
    bool is_enough() const { return 2 * judged_bytes_ >= head_bytes_; }
    /// Share of the lines, blank ones aside, that begin with white space.
    double indented() const { return static_cast<double>(indented_) / static_cast<double>(std::max<std::size_t>(lines_, 1)); }

    /// Returns what the settings ask for, and decides what they leave to the sample:
    /// - Lines are wrapped if most of them, within blocks between empty lines, end inside a sentence, and so close to the same
    ///   column that the next word did not fit. They are sentences if at most one in ten holds more than one; else paragraphs,
    ///   also in an empty sample, because splitting a sentence changes less than not splitting a paragraph.
    /// - Documents are separated by empty lines, and by the files' ends. But empty lines only separate paragraphs if lines are
    ///   wrapped, or if lines are paragraphs, most of them stand alone, and there are several files; then each file is a
    ///   document. So it is where lines are kept, because empty lines are part of the text.
    TextLayout layout(const InputSettings& settings) const;

private:
    struct InnerLine {
        std::uint32_t columns, next_word;  ///< in bytes: the line's, and the first word's of the next line
        bool ends_sentence;
    };

    void add_block(const std::vector<std::string_view>& lines);
    bool is_wrapped() const;

    std::size_t head_bytes_ = 0, judged_bytes_ = 0;
    std::size_t files_ = 0, lines_ = 0, long_lines_ = 0, blocks_ = 0, single_lines_ = 0, indented_ = 0;
    std::vector<InnerLine> inner_;  ///< lines that another line of their block follows
};

/// A sentence for the log: "documents are separated by empty lines; each line of a text is a sentence".
std::string description_of(const TextLayout& layout, bool is_plain_text);

/// Returns the text's lines without white space at their ends, each ended by "\n"; blank lines are left out. Joins the lines of a
/// block if they are wrapped. Returns the text itself if they are as_written, and kept_lines() of it if they are kept.
std::string tidy_lines(std::string_view text, TextLayout::Lines lines);

}  // namespace bertpretrain
