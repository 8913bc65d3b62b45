#include "text/sentences/punkt.h"

#include <optional>

#include "text/utf8.h"

namespace bertpretrain {
namespace {

/// Whether this word begins a sentence, by its capitalisation; nullopt when that does not decide.
std::optional<bool> looks_like_start(const PunktParameters& parameters, const PunktToken& token) {
    if (token.text.size() == 1 && std::string_view(";:,.!?").find(token.text[0]) != std::string_view::npos) return false;
    const int seen = parameters.orthography_of(token.type_without_break());
    if (token.first_upper() && (seen & any_lower) != 0 && (seen & upper_inside) == 0) return true;
    if (token.first_lower() && ((seen & any_upper) != 0 || (seen & lower_at_start) == 0)) return false;
    return std::nullopt;
}

struct Span {
    std::size_t begin, end;
};

/// A stop that may end a sentence: a non-word mark follows it, or white space and another word.
struct Stop {
    std::size_t at, after_end;  ///< its position, and the end of the mark or word that follows
    std::size_t next_word;      ///< position of the next word; 0 when a mark follows
};

/// Returns the end of the white space at `i` if `space`, else of the word there.
std::size_t end_of(std::string_view text, std::size_t i, bool space) {
    static constexpr ByteSet may_be_space(" \t\n\v\f\r\x1C\x1D\x1E\x1F\xC2\xE1\xE2\xE3");  // first bytes of white space
    while (i < text.size()) {
        if (!space) i = may_be_space.find(text, i);
        std::size_t next = i;
        if (i == text.size() || is_punkt_space(next_code_point(text, next)) != space) break;
        i = next;
    }
    return i;
}

std::optional<Stop> stop_at(std::string_view text, std::size_t i) {
    if (i + 1 >= text.size()) return std::nullopt;
    if (is_punkt_non_word(text[i + 1])) return Stop{i, i + 2, 0};
    const std::size_t next = end_of(text, i + 1, true);
    if (next == i + 1 || next == text.size()) return std::nullopt;
    return Stop{i, end_of(text, next, false), next};
}

/// Finds sentence boundaries. Stops without white space between them are decided together, at the last one.
class Boundaries {
public:
    Boundaries(const PunktParameters& parameters, std::string_view text) : parameters_(parameters), text_(text) {}

    std::vector<Span> spans() {
        static constexpr ByteSet stops(".?!");
        for (std::size_t i = stops.find(text_, 0); i < text_.size(); i = stops.find(text_, i + 1))
            if (const std::optional<Stop> stop = stop_at(text_, i)) take(*stop);
        decide();
        spans_.push_back({begin_, text_.size()});
        return std::move(spans_);
    }

private:
    void take(const Stop& stop) {
        std::size_t word = word_.begin;
        for (std::size_t i = stop.at; i > word_.end; --i)
            if (text_[i - 1] == ' ' || (text_[i - 1] >= '\t' && text_[i - 1] <= '\r')) {
                if (i - 1 > word_.end) word = i;
                break;
            }
        if (last_ && word_.end <= word) decide();
        last_ = stop;
        word_ = {word, stop.at};
    }

    void decide() {
        if (!last_) return;
        std::vector<PunktToken> tokens = punkt_tokens(text_.substr(word_.begin, last_->after_end - word_.begin));
        for (PunktToken& token : tokens) annotate_type(parameters_, token);
        bool breaks = false;
        for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
            annotate_pair(parameters_, tokens[t], tokens[t + 1]);
            breaks = breaks || tokens[t].sentence_break;
        }
        if (!breaks) return;
        spans_.push_back({begin_, last_->at + 1});
        begin_ = last_->next_word > 0 ? last_->next_word : last_->at + 1;
    }

    const PunktParameters& parameters_;
    std::string_view text_;
    std::vector<Span> spans_;
    std::size_t begin_ = 0;
    Span word_{0, 0};  ///< from the start of the last stop's word to that stop
    std::optional<Stop> last_;
};

/// Returns the quotation marks and brackets at the start of a sentence that close the previous one. They are followed by white
/// space, a dash or the end; `end` is after that white space. Returns {0, 0} when there are none.
Span closing_marks(std::string_view sentence) {
    std::size_t marks = 0;
    while (marks < sentence.size() && std::string_view("\"')]}").find(sentence[marks]) != std::string_view::npos) {
        ++marks;
        const std::size_t end = end_of(sentence, marks, true);
        if (end > marks || end == sentence.size() || sentence.substr(end, 2) == "--") return {marks, end};
    }
    return {0, 0};
}

/// Returns `text` without white space at its ends.
std::string_view without_outer_space(std::string_view text) {
    text.remove_prefix(end_of(text, 0, true));
    for (std::size_t end = text.size(); end > 0; text = text.substr(0, end))
        if (!is_punkt_space(previous_code_point(text, end))) break;
    return text;
}

}  // namespace

void annotate_type(const PunktParameters& parameters, PunktToken& token) {
    if (token.text.size() == 1 && is_punkt_stop(token.text[0])) token.sentence_break = true;
    else if (token.text.starts_with("..") && token.text.find_first_not_of('.') == std::string_view::npos) token.ellipsis = true;
    else if (token.ends_in_period() && !token.text.ends_with("..")) {
        const std::string word = lower_text(token.text.substr(0, token.text.size() - 1));
        const std::string part = word.substr(word.rfind('-') + 1);
        if (parameters.abbreviations.contains(word) || parameters.abbreviations.contains(part)) token.abbreviation = true;
        else token.sentence_break = true;
    }
}

void annotate_pair(const PunktParameters& parameters, PunktToken& token, const PunktToken& next) {
    if (!token.ends_in_period()) return;
    const auto no_break = [&] {
        token.sentence_break = false;
        token.abbreviation = true;
    };
    const std::string type = token.type_without_period(), next_type = next.type_without_break();
    if (parameters.collocations.contains(type + "\t" + next_type)) return no_break();
    const bool initial = token.is_initial();
    const std::optional<bool> starts = looks_like_start(parameters, next);
    if ((token.abbreviation || token.ellipsis) && !initial &&
        (starts == true || (next.first_upper() && parameters.sentence_starters.contains(next_type)))) {
        token.sentence_break = true;
        return;
    }
    if (!initial && type != punkt_number) return;
    if (starts == false) return no_break();
    if (!starts && initial && next.first_upper() && (parameters.orthography_of(next_type) & any_lower) == 0) no_break();
}

std::vector<std::string> punkt_sentences(const PunktParameters& parameters, std::string_view text) {
    std::vector<Span> spans = Boundaries(parameters, text).spans();
    for (std::size_t s = 1; s < spans.size(); ++s) {
        const Span marks = closing_marks(text.substr(spans[s].begin, spans[s].end - spans[s].begin));
        if (marks.end == 0) continue;
        spans[s - 1].end = spans[s].begin + marks.begin;
        spans[s].begin += marks.end;
    }
    std::vector<std::string> sentences;
    for (const Span& span : spans) {
        const std::string_view sentence = without_outer_space(text.substr(span.begin, span.end - span.begin));
        if (!sentence.empty()) sentences.emplace_back(sentence);
    }
    return sentences;
}

}  // namespace bertpretrain
