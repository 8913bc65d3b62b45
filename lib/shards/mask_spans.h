#pragma once
// Masks neighbouring tokens or words together.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "config/choice.h"
#include "shards/rng.h"

namespace bertpretrain {

/// How long spans are.
enum class SpanLengths {
    fixed,      ///< all of the longest length, or of all tokens to mask if these are fewer: a token and its neighbours
    geometric,  ///< random: length l has a probability proportional to 0.8^l
};
template <>
inline constexpr auto choice_names<SpanLengths> = choices("fixed", "geometric");

struct MaskSpans {
    std::int64_t longest = 1;  ///< tokens or words of the longest span; 1: no spans
    SpanLengths lengths = SpanLengths::fixed;
};

/// The maskable tokens of a row, grouped into what is masked together: words, or single tokens.
struct MaskUnits {
    std::vector<std::int32_t> positions;  ///< of all maskable tokens, ascending
    std::vector<std::int32_t> begins;     ///< unit u is at positions[begins[u]] up to, not including, positions[begins[u + 1]]
    std::vector<std::int32_t> runs;       ///< by unit: which run it is in. A special token ends a run, and spans stay in one

    std::size_t size() const { return begins.size() - 1; }
    std::span<const std::int32_t> operator[](std::size_t unit) const {
        return std::span(positions).subspan(static_cast<std::size_t>(begins[unit]),
                                            static_cast<std::size_t>(begins[unit + 1] - begins[unit]));
    }
};

/// Returns at most `wanted` positions, fewer only where no span fits any more, in the order in which they were drawn.
///
/// Each token is drawn once, in random order, until enough are masked. With fixed lengths, a drawn token masks its neighbours:
/// (k - 1) / 2 units before its own and k / 2 after it, as far as its run goes; it is skipped if these are too many. That is the
/// rule of DNABERT (run_pretrain.py of jerryji1993/DNABERT), where overlapping k-mers would otherwise reveal a masked one. With
/// geometric lengths, a drawn token that is not masked begins a span at its unit, which ends before a unit that is too much:
/// SpanBERT (Joshi et al. 2020).
std::vector<std::int32_t> choose_spans(const MaskUnits& units, std::size_t wanted, const MaskSpans& spans, Rng& rng);

}  // namespace bertpretrain
