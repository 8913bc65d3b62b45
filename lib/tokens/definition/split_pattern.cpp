#include "tokens/definition/split_pattern.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "tokens/valid_text.h"

namespace bertpretrain {
namespace {

constexpr char32_t all_code_points = 0x110000;

void collect_sets(const PatternAlternatives& alternatives, std::vector<const CodePointSet*>& sets) {
    for (const PatternSequence& sequence : alternatives)
        for (const PatternTerm& term : sequence) {
            if (term.kind == PatternTerm::Kind::set) sets.push_back(&term.set);
            else collect_sets(term.inside, sets);
        }
}

}  // namespace

SplitPattern::SplitPattern(std::string_view expression, const std::string& where) {
    const PatternAlternatives alternatives = parse_split_pattern(expression, where);
    collect_sets(alternatives, sets_);
    find_classes(sets_, where);
    start_ = compile(alternatives, add({}));
    sets_.clear();
}

/// Numbers the classes of code points that lie in the same sets, and fills masks_.
void SplitPattern::find_classes(const std::vector<const CodePointSet*>& sets, const std::string& where) {
    std::vector<bool> is_edge(all_code_points + 1);
    for (const CodePointSet* set : sets) set->for_each_edge([&](char32_t c) { is_edge[std::min(c, all_code_points)] = true; });
    class_of_.resize(all_code_points);
    masks_.resize(sets.size());
    std::map<std::vector<bool>, char> classes;
    Categories previous = 0;
    char number = 0;
    std::map<Categories, char> by_category;  // valid between two edges
    for (char32_t c = 0; c < all_code_points; ++c) {
        const Categories category = general_category(c);
        if (is_edge[c]) by_category.clear();
        if (is_edge[c] || category != previous) {
            const auto known = by_category.find(category);
            if (known != by_category.end()) {
                number = known->second;
            } else {
                std::vector<bool> in(sets.size());
                for (std::size_t s = 0; s < sets.size(); ++s) in[s] = sets[s]->contains(c, category);
                number = classes.emplace(in, static_cast<char>(classes.size())).first->second;
                if (number >= end_class)
                    throw DataError(concat(where, ": the regular expression distinguishes too many kinds of characters"));
                for (std::size_t s = 0; s < sets.size(); ++s)
                    if (in[s]) masks_[s] |= Mask{1} << number;
                by_category.emplace(category, number);
            }
        }
        previous = category;
        class_of_[c] = number;
    }
}

std::uint32_t SplitPattern::add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

/// Adds nodes that match one of the alternatives and then `next`. Returns the first of them.
std::uint32_t SplitPattern::compile(const PatternAlternatives& alternatives, std::uint32_t next) {
    Node choice{.kind = Node::Kind::choice, .first = 0};
    for (const PatternSequence& sequence : alternatives) {
        std::uint32_t start = next;
        for (auto term = sequence.rbegin(); term != sequence.rend(); ++term) start = compile_term(*term, start);
        choice.alternatives.push_back(start);
        choice.first |= nodes_[start].first;
    }
    return choice.alternatives.size() == 1 ? choice.alternatives[0] : add(std::move(choice));
}

std::uint32_t SplitPattern::compile_term(const PatternTerm& term, std::uint32_t next) {
    if (term.kind == PatternTerm::Kind::set) {
        const auto set = static_cast<std::size_t>(std::ranges::find(sets_, &term.set) - sets_.begin());
        return add({.kind = Node::Kind::set,
                    .is_possessive = term.is_possessive,
                    .next = next,
                    .least = term.least,
                    .most = term.most,
                    .mask = masks_[set],
                    .first = masks_[set] | (term.least == 0 ? nodes_[next].first : 0)});
    }
    if (term.kind == PatternTerm::Kind::group) {
        const std::uint32_t inside = compile(term.inside, next);
        if (term.least == 1) return inside;
        return add(
            {.kind = Node::Kind::choice, .first = nodes_[inside].first | nodes_[next].first, .alternatives = {inside, next}});
    }
    const std::uint32_t inside = compile(term.inside, add({}));
    return add({.kind = term.kind == PatternTerm::Kind::ahead ? Node::Kind::ahead : Node::Kind::not_ahead,
                .next = next,
                .inside = inside});
}

/// Writes the class of each byte's character, and end_class after the last.
void SplitPattern::classify(std::string_view text, std::string& classes) const {
    classes.resize(text.size() + 1);
    char* const out = classes.data();
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x80) {
            out[i++] = class_of_[byte];
            continue;
        }
        const std::size_t begin = i;
        const char number = class_of_[next_of_valid(text, i)];
        std::fill(out + begin, out + i, number);
    }
    out[text.size()] = end_class;
}

/// Returns the end of the match of a node and all that follow it, or no_match.
std::size_t SplitPattern::match(std::uint32_t index, std::size_t position, const char* classes, const char* text) const {
    for (;;) {
        const Node& node = nodes_[index];
        switch (node.kind) {
            case Node::Kind::end:
                return position;
            case Node::Kind::choice:
                for (const std::uint32_t alternative : node.alternatives) {
                    if ((nodes_[alternative].first >> classes[position] & 1) == 0) continue;
                    if (const std::size_t end = match(alternative, position, classes, text); end != no_match) return end;
                }
                return no_match;
            case Node::Kind::ahead:
            case Node::Kind::not_ahead:
                if ((match(node.inside, position, classes, text) == no_match) == (node.kind == Node::Kind::ahead))
                    return no_match;
                index = node.next;
                break;
            case Node::Kind::set:
                return match_set(node, position, classes, text);
        }
    }
}

/// Matches as many characters as possible, then gives them back one by one until the rest matches.
std::size_t SplitPattern::match_set(const Node& node, std::size_t position, const char* classes, const char* text) const {
    std::size_t end = position, least_end = position;
    if (node.most == PatternTerm::unlimited && node.least <= 1) {
        while (node.mask >> classes[end] & 1) ++end;  // all bytes of a character have its class
        if (node.least == 1) {
            if (end == position) return no_match;
            least_end = after(position, text);
        }
    } else {
        std::uint32_t count = 0;
        for (; count < node.most && (node.mask >> classes[end] & 1); ++count) {
            end = after(end, text);
            if (count + 1 == node.least) least_end = end;
        }
        if (count < node.least) return no_match;
    }
    const Node& next = nodes_[node.next];
    if (next.kind == Node::Kind::end) return end;
    for (;;) {
        if (next.first >> classes[end] & 1)
            if (const std::size_t match_end = match(node.next, end, classes, text); match_end != no_match) return match_end;
        if (end == least_end || node.is_possessive) return no_match;
        do --end;
        while (is_inside(text[end]));
    }
}

}  // namespace bertpretrain
