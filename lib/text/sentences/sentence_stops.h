#pragma once
// Marks that end a sentence by themselves: the full stops of scripts that have their own.

#include <cstddef>
#include <string_view>

#include "text/utf8.h"

namespace bertpretrain {

/// Whether `c` is a full stop, question mark or exclamation mark that serves no other purpose: Armenian, Urdu, Hindi and Bengali,
/// Burmese, Amharic, Khmer, Tibetan, Chinese, Japanese, and others. The period, ? and ! are not among them.
bool is_sure_stop(char32_t c);

/// Whether `c` is a quotation mark or bracket that may close a sentence after its stop.
bool is_closing_mark(char32_t c);

/// What follows from a sure stop.
struct SureEnd {
    bool ends_sentence = false;
    std::size_t at = 0;  ///< the sentence's end, with all further stops and closing marks; or where the next stop that may end
                         ///< one can be
};

/// Judges the sure stop at `stop`. It ends no sentence before a digit that follows at once (1۔5), in an Urdu abbreviation
/// (پی۔ایچ۔ڈی), in Khmer ។ល។ (etc.), and where Tibetan marks open a text.
/// @param begin where the sentence begins  @param has_letter whether a letter or digit stands between `begin` and `stop`
SureEnd sure_end(std::string_view text, std::size_t begin, std::size_t stop, bool has_letter);

/// Returns the first sure stop, or two Ethiopic word spaces (::), at or after `from`, or text.size().
std::size_t find_sure_stop(std::string_view text, std::size_t from);

/// Calls visit(part) for the parts of a paragraph that sure stops end, in order, and for the rest. Takes linear time on any text.
template <class Visit>
void for_each_surely_ended(std::string_view text, const Visit& visit) {
    std::size_t begin = 0, searched = 0;
    bool found_letter = false;  // between begin and searched
    for (std::size_t stop = find_sure_stop(text, 0); stop < text.size();) {
        found_letter = found_letter || has_letter_or_digit(text.substr(searched, stop - searched));
        searched = stop;
        const SureEnd end = sure_end(text, begin, stop, found_letter);
        if (end.ends_sentence) {
            visit(text.substr(begin, end.at - begin));
            begin = searched = end.at;
            found_letter = false;
        }
        stop = find_sure_stop(text, end.at);
    }
    if (begin < text.size()) visit(text.substr(begin));
}

}  // namespace bertpretrain
