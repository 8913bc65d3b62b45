#pragma once
// Marks that end a sentence by themselves: the full stops of scripts that have their own.

#include <cstddef>
#include <string_view>

namespace bertpretrain {

/// Whether `c` is a full stop, question mark or exclamation mark that serves no other purpose: Armenian, Urdu, Hindi and Bengali,
/// Burmese, Amharic, Khmer, Tibetan, Chinese, Japanese, and others. The period, ? and ! are not among them.
bool is_sure_stop(char32_t c);

/// Whether `c` is a quotation mark or bracket that may close a sentence after its stop.
bool is_closing_mark(char32_t c);

/// Returns the end of the sentence that the sure stop at `stop` ends, with all further stops and closing marks, or `stop` when it
/// ends none: before a digit that follows at once (1۔5), in an Urdu abbreviation (پی۔ایچ۔ڈی), in Khmer ។ល។ (etc.), and where
/// Tibetan marks open a text. @param begin where the sentence begins
std::size_t sure_end(std::string_view text, std::size_t begin, std::size_t stop);

/// Returns the first sure stop, or two Ethiopic word spaces (::), at or after `from`, or text.size().
std::size_t find_sure_stop(std::string_view text, std::size_t from);

/// Calls visit(part) for the parts of a paragraph that sure stops end, in order, and for the rest.
template <class Visit>
void for_each_surely_ended(std::string_view text, const Visit& visit) {
    std::size_t begin = 0;
    for (std::size_t stop = find_sure_stop(text, 0); stop < text.size();) {
        const std::size_t end = sure_end(text, begin, stop);
        if (end > stop) {
            visit(text.substr(begin, end - begin));
            begin = end;
        }
        stop = find_sure_stop(text, end > stop ? end : stop + 1);
    }
    if (begin < text.size()) visit(text.substr(begin));
}

}  // namespace bertpretrain
