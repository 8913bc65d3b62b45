#pragma once
// A corpus as Punkt learns from it: each form of a word is looked at once, the text is a row of numbers.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/task_pool.h"
#include "text/punkt_token.h"

namespace bertpretrain {

/// A word as it is written ("Corp.", "corp." and "Corp" are three), with what the training asks of it.
struct PunktForm {
    PunktToken token;
    std::uint32_t type, type_without_period;  ///< indices of types()
    bool ends_in_period, is_upper, is_lower, is_alphabetic, has_letter;
    bool is_ordinal;  ///< a number or an initial

    /// Of this occurrence or any other: the annotation depends on the form only.
    std::uint32_t type_without_break() const { return token.sentence_break ? type_without_period : type; }
};

/// The words of all texts, one after the other.
class PunktCorpus {
public:
    struct Word {
        std::uint32_t form : 30;
        bool line_start : 1, paragraph_start : 1;
    };

    /// @param texts must outlive this. @param pool reads them in parts; the result does not depend on its threads
    PunktCorpus(const std::vector<std::string_view>& texts, TaskPool& pool);

    std::vector<PunktForm>& forms() { return forms_; }
    const std::vector<PunktForm>& forms() const { return forms_; }
    const std::vector<Word>& words() const { return words_; }
    const std::vector<std::string>& types() const { return types_; }
    /// @returns types().size() where no such type occurs
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
