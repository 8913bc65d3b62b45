#include "text/sentences/punkt_training.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "text/sentences/punkt.h"
#include "text/sentences/punkt_corpus.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

constexpr double abbreviation_score = 0.3, collocation_score = 7.88, starter_score = 30;
constexpr std::int64_t rare_below = 5;

/// Returns x * ln(p), with 0 * ln(0) = 0.
double weighted_log(double x, double p) { return x == 0 ? 0 : x * std::log(p); }

/// Returns the log-likelihood ratio of two hypotheses for an event that goes with `ab` of `a` occurrences: that its rate is 0.99,
/// and that it is the overall rate b / n.
double abbreviation_likelihood(double a, double b, double ab, double n) {
    const double p = b / n, certain = 0.99;
    return 2 *
           (weighted_log(ab, certain) + weighted_log(a - ab, 1 - certain) - weighted_log(ab, p) - weighted_log(a - ab, 1 - p));
}

/// Returns Dunning's log-likelihood ratio for the dependence of two events that occur a and b times of n, and ab times together.
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
    explicit Training(PunktCorpus& corpus) : corpus_(corpus), counts_(corpus.types().size() + 1, 0) {}

    PunktParameters run() {
        for (const PunktCorpus::Word word : corpus_.words()) count(form(word));
        find_abbreviations();
        for (PunktForm& each : corpus_.forms()) annotate_type(learned_, each.token);
        note_orthography();
        const PunktForm* last = nullptr;
        for (const PunktCorpus::Word word : corpus_.words()) {
            if (last != nullptr && last->ends_in_period) count_pair(*last, form(word));
            last = &form(word);
        }
        find_starters();
        find_collocations();
        return std::move(learned_);
    }

private:
    enum class Place { start, inside, unknown };

    const PunktForm& form(PunktCorpus::Word word) const { return corpus_.forms()[word.form]; }
    const std::string& text_of(std::uint32_t type) const { return corpus_.types()[type]; }
    std::int64_t occurrences_of(const std::string& type) const { return counts_[corpus_.find_type(type)]; }

    void count(const PunktForm& form) {
        ++counts_[form.type];
        ++tokens_;
        if (form.ends_in_period) ++periods_;
    }

    /// Learns abbreviations: words that nearly always end in a period. Short words and words with inner periods score higher.
    void find_abbreviations() {
        for (std::uint32_t t = 0; t < corpus_.types().size(); ++t) {
            const std::string& type = text_of(t);
            if (counts_[t] == 0 || !type.ends_with('.') || !is_type_word(type)) continue;
            const std::string word = type.substr(0, type.size() - 1);
            const auto inner_periods = static_cast<double>(std::count(word.begin(), word.end(), '.'));
            const double letters = static_cast<double>(code_points_of(word).size()) - inner_periods;
            const auto without = static_cast<double>(occurrences_of(word)), with = static_cast<double>(counts_[t]);
            const double likelihood =
                abbreviation_likelihood(with + without, static_cast<double>(periods_), with, static_cast<double>(tokens_));
            if (likelihood * std::exp(-letters) * (inner_periods + 1) * std::pow(letters, -without) >= abbreviation_score)
                learned_.abbreviations.insert(word);
        }
    }

    /// Records in which positions each type was seen, capitalised or not.
    void note_orthography() {
        seen_.assign(corpus_.types().size(), 0);
        Place place = Place::inside;
        for (const PunktCorpus::Word word : corpus_.words()) {
            if (word.paragraph_start && place != Place::unknown) place = Place::start;
            if (word.line_start && place == Place::inside) place = Place::unknown;
            const PunktForm& here = form(word);
            const int shift = place == Place::start ? 0 : place == Place::inside ? 1 : 2;
            if (here.is_upper) seen_[here.type_without_break()] |= upper_at_start << shift;
            else if (here.is_lower) seen_[here.type_without_break()] |= lower_at_start << shift;
            if (here.token.sentence_break) {
                ++breaks_;
                place = here.is_ordinal ? Place::unknown : Place::start;
            } else {
                place = here.token.ellipsis || here.token.abbreviation ? Place::unknown : Place::inside;
            }
        }
        for (std::uint32_t type = 0; type < seen_.size(); ++type)
            if (seen_[type] != 0) learned_.orthography[text_of(type)] = seen_[type];
    }

    /// Whether a word too rare for find_abbreviations() is an abbreviation, as the next word does not look like a sentence start.
    bool is_rare_abbreviation(const PunktForm& form, const PunktForm& next) const {
        if (form.token.abbreviation || !form.token.sentence_break || counts_[form.type_without_period] >= rare_below)
            return false;
        const std::string& type = text_of(form.type_without_period);
        std::size_t shorter = type.size();
        previous_code_point(type, shorter);
        if (counts_[form.type_without_period] + occurrences_of(type.substr(0, shorter)) >= rare_below ||
            learned_.abbreviations.contains(type))
            return false;
        if (std::string_view(",:;").find(next.token.text.front()) != std::string_view::npos) return true;
        const int seen = seen_[next.type_without_break()];
        return next.is_lower && (seen & upper_at_start) != 0 && (seen & upper_inside) == 0;
    }

    void count_pair(const PunktForm& form, const PunktForm& next) {
        if (is_rare_abbreviation(form, next)) learned_.abbreviations.insert(text_of(form.type_without_period));
        if (!form.token.sentence_break) return;
        if (!form.is_ordinal && next.is_alphabetic) ++starters_[next.type];
        if (form.is_ordinal && form.has_letter && next.has_letter)
            ++collocations_[{form.type_without_period, next.type_without_break()}];
    }

    double occurrences(const std::string& type) const {
        return static_cast<double>(occurrences_of(type) + occurrences_of(type + "."));
    }

    void find_starters() {
        const auto breaks = static_cast<double>(breaks_), all = static_cast<double>(tokens_);
        for (const auto& [type, at_break] : starters_) {
            const double behind = static_cast<double>(at_break), often = occurrences(text_of(type));
            if (often >= behind && dependence(breaks, often, behind, all) >= starter_score && all / breaks > often / behind)
                learned_.sentence_starters.insert(text_of(type));
        }
    }

    void find_collocations() {
        const auto all = static_cast<double>(tokens_);
        for (const auto& [pair, count] : collocations_) {
            const std::string &first = text_of(pair.first), &second = text_of(pair.second);
            if (learned_.sentence_starters.contains(second)) continue;
            const double together = static_cast<double>(count), a = occurrences(first), b = occurrences(second);
            if (a > 1 && b > 1 && together > 1 && together <= std::min(a, b) &&
                dependence(a, b, together, all) >= collocation_score && all / a > b / together)
                learned_.collocations.insert(first + "\t" + second);
        }
    }

    PunktCorpus& corpus_;
    PunktParameters learned_;
    std::vector<std::int64_t> counts_;  ///< by type; the last entry, for types that do not occur, stays 0
    std::vector<int> seen_;             ///< by type: bits of Orthography
    std::map<std::uint32_t, std::int64_t> starters_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> collocations_;
    std::int64_t tokens_ = 0, periods_ = 0, breaks_ = 0;
};

}  // namespace

PunktParameters learn_punkt(const std::vector<std::string_view>& texts, TaskPool& pool) {
    PunktCorpus corpus(texts, pool);
    return Training(corpus).run();
}

}  // namespace bertpretrain
