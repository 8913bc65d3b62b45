#include "text/punkt_training.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "text/punkt.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

constexpr double abbreviation_score = 0.3, collocation_score = 7.88, starter_score = 30;
constexpr std::int64_t rare_below = 5;

using Counts = std::unordered_map<std::string, std::int64_t>;

double count_in(const Counts& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : static_cast<double>(found->second);
}

/// x ln p, where nothing of probability nothing is nothing.
double weighted_log(double x, double p) { return x == 0 ? 0 : x * std::log(p); }

/// Log-likelihood that of `a` occurrences `ab` go with an event of rate 0.99 rather than with its overall rate b / n.
double abbreviation_likelihood(double a, double b, double ab, double n) {
    const double p = b / n, certain = 0.99;
    return 2 *
           (weighted_log(ab, certain) + weighted_log(a - ab, 1 - certain) - weighted_log(ab, p) - weighted_log(a - ab, 1 - p));
}

/// Dunning's log-likelihood ratio that `a` and `b`, together `ab` times among n, depend on each other.
double dependence(double a, double b, double ab, double n) {
    const double p = b / n, with = ab / a, without = n > a ? (b - ab) / (n - a) : 1;
    const double independent = weighted_log(b, p) + weighted_log(n - b, 1 - p);
    double dependent = 0;
    if (a != ab && with > 0 && with < 1) dependent += weighted_log(ab, with) + weighted_log(a - ab, 1 - with);
    if (b != ab && without > 0 && without < 1)
        dependent += weighted_log(b - ab, without) + weighted_log(n - a - b + ab, 1 - without);
    return 2 * (dependent - independent);
}

bool is_type_word(const std::string& type) { return PunktToken(type).has_letter() && type != punkt_number; }

class Training {
public:
    explicit Training(const std::vector<std::string_view>& texts) : texts_(texts) {}

    PunktParameters run() {
        for_each_token([&](PunktToken& token) { count(token); });
        find_abbreviations();
        Place place = Place::inside;
        for_each_line([&](std::vector<PunktToken>& tokens) { note_orthography(tokens, place); });
        for_each_pair([&](const PunktToken& token, const PunktToken& next) { count_pair(token, next); });
        find_starters();
        find_collocations();
        return std::move(learned_);
    }

private:
    enum class Place { start, inside, unknown };

    /// Tokens of one line after the other, annotated as far as the abbreviations are known.
    void for_each_line(const std::function<void(std::vector<PunktToken>&)>& body) const {
        bool paragraph_start = false;
        std::vector<PunktToken> tokens;
        const auto visit = [&](std::string_view line) {
            tokens = punkt_tokens(line);
            if (!tokens.empty()) {
                tokens.front().line_start = true;
                tokens.front().paragraph_start = paragraph_start;
            }
            paragraph_start = tokens.empty();
            annotate_types(learned_, tokens);
            body(tokens);
        };
        for (const std::string_view text : texts_) {
            for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
                end = std::min(text.find('\n', at), text.size());
                visit(text.substr(at, end - at));
            }
            visit({});
        }
    }
    void for_each_token(const std::function<void(PunktToken&)>& body) const {
        for_each_line([&](std::vector<PunktToken>& tokens) {
            for (PunktToken& token : tokens) body(token);
        });
    }
    /// Also across lines.
    void for_each_pair(const std::function<void(const PunktToken&, const PunktToken&)>& body) const {
        std::vector<PunktToken> last;
        for_each_token([&](PunktToken& token) {
            if (!last.empty()) body(last.front(), token);
            last.assign(1, token);
        });
    }

    void count(const PunktToken& token) {
        ++types_[token.type];
        ++tokens_;
        if (token.ends_in_period()) ++periods_;
    }

    /// A word is an abbreviation when it nearly always has a period, the more so the shorter it is and the more periods it has.
    void find_abbreviations() {
        for (const auto& [type, with_period] : types_) {
            if (!type.ends_with('.') || !is_type_word(type)) continue;
            const std::string word = type.substr(0, type.size() - 1);
            const auto inner_periods = static_cast<double>(std::count(word.begin(), word.end(), '.'));
            const double letters = static_cast<double>(code_points_of(word).size()) - inner_periods;
            const double without = count_in(types_, word), with = static_cast<double>(with_period);
            const double likelihood =
                abbreviation_likelihood(with + without, static_cast<double>(periods_), with, static_cast<double>(tokens_));
            if (likelihood * std::exp(-letters) * (inner_periods + 1) * std::pow(letters, -without) >= abbreviation_score)
                learned_.abbreviations.insert(word);
        }
    }

    void note_orthography(const std::vector<PunktToken>& tokens, Place& place) {
        for (const PunktToken& token : tokens) {
            if (token.paragraph_start && place != Place::unknown) place = Place::start;
            if (token.line_start && place == Place::inside) place = Place::unknown;
            const int shift = place == Place::start ? 0 : place == Place::inside ? 1 : 2;
            if (token.first_upper()) learned_.orthography[token.type_without_break()] |= upper_at_start << shift;
            else if (token.first_lower()) learned_.orthography[token.type_without_break()] |= lower_at_start << shift;
            if (token.sentence_break) {
                ++breaks_;
                place = token.is_number() || token.is_initial() ? Place::unknown : Place::start;
            } else {
                place = token.ellipsis || token.abbreviation ? Place::unknown : Place::inside;
            }
        }
    }

    /// Too rare to be counted, but what follows looks like the middle of a sentence.
    bool is_rare_abbreviation(const PunktToken& token, const PunktToken& next) const {
        if (token.abbreviation || !token.sentence_break) return false;
        const std::string type = token.type_without_break();
        const std::string shorter = type.substr(0, type.size() - std::min<std::size_t>(1, type.size()));
        if (learned_.abbreviations.contains(type) || count_in(types_, type) + count_in(types_, shorter) >= rare_below)
            return false;
        if (std::string_view(",:;").find(next.text.front()) != std::string_view::npos) return true;
        const int seen = learned_.orthography_of(next.type_without_break());
        return next.first_lower() && (seen & upper_at_start) != 0 && (seen & upper_inside) == 0;
    }

    void count_pair(const PunktToken& token, const PunktToken& next) {
        if (!token.ends_in_period()) return;
        if (is_rare_abbreviation(token, next)) learned_.abbreviations.insert(token.type_without_period());
        const bool ordinal = token.is_number() || token.is_initial();
        if (token.sentence_break && !ordinal && next.is_alphabetic()) ++starters_[next.type];
        if (token.sentence_break && ordinal && token.has_letter() && next.has_letter())
            ++collocations_[token.type_without_period() + "\t" + next.type_without_break()];
    }

    double occurrences(const std::string& type) const { return count_in(types_, type) + count_in(types_, type + "."); }

    void find_starters() {
        const auto breaks = static_cast<double>(breaks_), all = static_cast<double>(tokens_);
        for (const auto& [type, at_break] : starters_) {
            const double behind = static_cast<double>(at_break), often = occurrences(type);
            if (often >= behind && dependence(breaks, often, behind, all) >= starter_score && all / breaks > often / behind)
                learned_.sentence_starters.insert(type);
        }
    }

    void find_collocations() {
        const auto all = static_cast<double>(tokens_);
        for (const auto& [pair, count] : collocations_) {
            const std::size_t tab = pair.find('\t');
            const std::string first = pair.substr(0, tab), second = pair.substr(tab + 1);
            if (learned_.sentence_starters.contains(second)) continue;
            const double together = static_cast<double>(count), a = occurrences(first), b = occurrences(second);
            if (a > 1 && b > 1 && together > 1 && together <= std::min(a, b) &&
                dependence(a, b, together, all) >= collocation_score && all / a > b / together)
                learned_.collocations.insert(pair);
        }
    }

    const std::vector<std::string_view>& texts_;
    PunktParameters learned_;
    Counts types_, starters_, collocations_;
    std::int64_t tokens_ = 0, periods_ = 0, breaks_ = 0;
};

}  // namespace

PunktParameters learn_punkt(const std::vector<std::string_view>& texts) { return Training(texts).run(); }

}  // namespace bertpretrain
