#pragma once
// Philox4x32 with 10 rounds: four random words for every (key, counter). The one definition for host code, vector registers,
// tensors and GPU threads.
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".

#include <cstdint>

#if defined(__CUDACC__)
#define BERTPRETRAIN_PHILOX __host__ __device__ __forceinline__
#else
#define BERTPRETRAIN_PHILOX inline __attribute__((always_inline))
#endif

namespace bertpretrain {

constexpr int philox_rounds = 10;

/// A round's key: both words grow by a constant from round to round.
struct PhiloxRoundKey {
    std::uint32_t k0, k1;
    BERTPRETRAIN_PHILOX void advance() { k0 += 0x9E3779B9U, k1 += 0xBB67AE85U; }
};

/// The arithmetic of philox_round() on a 32-bit number. Other kinds of words bring a struct with the same functions.
struct PhiloxNumber {
    /// upper, lower = the two halves of factor * word
    BERTPRETRAIN_PHILOX static void multiply(std::uint32_t factor, std::uint32_t word, std::uint32_t& upper,
                                             std::uint32_t& lower) {
#if defined(__CUDA_ARCH__)
        upper = __umulhi(factor, word);
        lower = factor * word;
#else
        const std::uint64_t product = std::uint64_t{factor} * word;
        upper = static_cast<std::uint32_t>(product >> 32);
        lower = static_cast<std::uint32_t>(product);
#endif
    }
    /// result = a ^ b ^ key
    BERTPRETRAIN_PHILOX static void combine(std::uint32_t a, std::uint32_t b, std::uint32_t key, std::uint32_t& result) {
        result = a ^ b ^ key;
    }
};

/// One round on the four words of a counter, in place.
template <class Arithmetic = PhiloxNumber, class Word>
BERTPRETRAIN_PHILOX void philox_round(Word& w0, Word& w1, Word& w2, Word& w3, const PhiloxRoundKey& key) {
    Word a_upper, a_lower, b_upper, b_lower;
    Arithmetic::multiply(0xD2511F53U, w0, a_upper, a_lower);
    Arithmetic::multiply(0xCD9E8D57U, w2, b_upper, b_lower);
    Arithmetic::combine(b_upper, w1, key.k0, w0);
    w1 = b_lower;
    Arithmetic::combine(a_upper, w3, key.k1, w2);
    w3 = a_lower;
}

/// All rounds, in place: the counter's words become random words.
template <class Arithmetic = PhiloxNumber, class Word>
BERTPRETRAIN_PHILOX void philox_words(Word (&words)[4], PhiloxRoundKey key) {
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (int round = 0; round < philox_rounds; ++round, key.advance())
        philox_round<Arithmetic>(words[0], words[1], words[2], words[3], key);
}

}  // namespace bertpretrain
