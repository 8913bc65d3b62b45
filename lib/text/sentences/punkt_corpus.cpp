#include "text/sentences/punkt_corpus.h"

#include <algorithm>
#include <functional>
#include <future>
#include <span>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::size_t part_bytes = std::size_t{2} << 20;
constexpr std::size_t most_forms = std::size_t{1} << 30;

/// Numbers the forms in the order of their first occurrence. A hash table with open addressing.
class FormNumbers {
public:
    std::uint32_t operator[](std::string_view form) {
        const std::size_t hash = std::hash<std::string_view>()(form);
        Slot& slot = slots_[slot_of(form, hash)];
        if (!slot.form.empty()) return slot.number;
        const auto number = static_cast<std::uint32_t>(forms_.size());
        slot = {form, hash, number};
        forms_.push_back(form);
        if (2 * forms_.size() > slots_.size()) grow();
        return number;
    }
    const std::vector<std::string_view>& forms() const { return forms_; }

private:
    struct Slot {
        std::string_view form;  ///< empty: the slot is free
        std::size_t hash = 0;
        std::uint32_t number = 0;
    };

    std::size_t slot_of(std::string_view form, std::size_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = hash & mask;
        while (!slots_[i].form.empty() && (slots_[i].hash != hash || slots_[i].form != form)) i = (i + 1) & mask;
        return i;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (!slot.form.empty()) slots_[slot_of(slot.form, slot.hash)] = slot;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(4096);  ///< a power of two
    std::vector<std::string_view> forms_;
};

/// A part of the texts, with a numbering of its own.
struct Part {
    FormNumbers forms;
    std::vector<PunktCorpus::Word> words;
};

/// Every text except the corpus's first one begins a paragraph.
Part read_part(std::span<const std::string_view> texts, bool is_first) {
    Part part;
    bool paragraph_start = !is_first;
    for (const std::string_view text : texts) {
        for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
            end = std::min(text.find('\n', at), text.size());
            bool line_start = true;
            for_each_punkt_word(text.substr(at, end - at), [&](std::string_view word) {
                part.words.push_back({part.forms[word] & 0x3FFFFFFF, line_start, line_start && paragraph_start});
                line_start = false;
            });
            paragraph_start = line_start;
        }
        paragraph_start = true;
    }
    return part;
}

}  // namespace

PunktCorpus::PunktCorpus(const std::vector<std::string_view>& texts, TaskPool& pool) {
    std::vector<std::future<Part>> parts;
    for (std::size_t begin = 0, end = 0; begin < texts.size(); begin = end) {
        for (std::size_t bytes = 0; end < texts.size() && bytes < part_bytes; ++end) bytes += texts[end].size();
        const std::span<const std::string_view> some(texts.data() + begin, end - begin);
        parts.push_back(pool.submit([some, begin] { return read_part(some, begin == 0); }));
    }
    FormNumbers all;
    for (std::future<Part>& waiting : parts) {
        const Part part = pool.wait(waiting);
        std::vector<std::uint32_t> number_in_all;
        for (const std::string_view form : part.forms.forms()) number_in_all.push_back(all[form]);
        check(all.forms().size() < most_forms, "a corpus has ", all.forms().size(), " word forms");
        for (Word word : part.words) {
            word.form = number_in_all[word.form] & 0x3FFFFFFF;
            words_.push_back(word);
        }
    }
    forms_.reserve(all.forms().size());
    for (const std::string_view form : all.forms()) add_form(form);
}

void PunktCorpus::add_form(std::string_view text) {
    const PunktToken token(text);
    forms_.push_back({token, type_index(token.type), type_index(token.type_without_period()), token.ends_in_period(),
                      token.first_upper(), token.first_lower(), token.is_alphabetic(), token.has_letter(),
                      token.is_number() || token.is_initial()});
}

std::uint32_t PunktCorpus::type_index(const std::string& type) {
    const auto [at, is_new] = type_indices_.try_emplace(type, static_cast<std::uint32_t>(types_.size()));
    if (is_new) types_.push_back(type);
    return at->second;
}

std::uint32_t PunktCorpus::find_type(const std::string& type) const {
    const auto found = type_indices_.find(type);
    return found == type_indices_.end() ? static_cast<std::uint32_t>(types_.size()) : found->second;
}

}  // namespace bertpretrain
