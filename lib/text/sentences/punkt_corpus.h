#pragma once
// A corpus as Punkt learns from it: distinct word forms, each analysed only once, and the text as a sequence of their numbers.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/threads/task_pool.h"
#include "text/sentences/punkt_token.h"

namespace bertpretrain {

/// A word as written ("Corp.", "corp." and "Corp" are three forms), with the properties that training needs.
struct PunktForm {
    PunktToken token;
    std::uint32_t type, type_without_period;  ///< indices in types()
    bool ends_in_period, is_upper, is_lower, is_alphabetic, has_letter;
    bool is_ordinal;  ///< a number or an initial

    /// The same for every occurrence, because the annotation depends only on the form.
    std::uint32_t type_without_break() const { return token.sentence_break ? type_without_period : type; }
};

/// The words of all texts, in order.
class PunktCorpus {
public:
    struct Word {
        std::uint32_t form : 30;
        bool line_start : 1, paragraph_start : 1;
    };

    /// @param texts must outlive this @param pool reads parts in parallel; the result does not depend on its number of threads
    PunktCorpus(const std::vector<std::string_view>& texts, TaskPool& pool);

    std::vector<PunktForm>& forms() { return forms_; }
    const std::vector<PunktForm>& forms() const { return forms_; }
    const std::vector<Word>& words() const { return words_; }
    const std::vector<std::string>& types() const { return types_; }
    /// Returns the index in types(), or types().size() when the type does not occur.
    std::uint32_t find_type(const std::string& type) const;

private:
    void add_form(std::string_view text);
    std::uint32_t type_index(const std::string& type);

    std::vector<PunktForm> forms_;
    std::vector<Word> words_;
    std::vector<std::string> types_;
    std::unordered_map<std::string, std::uint32_t> type_indices_;
};

}  // namespace bertpretrain
