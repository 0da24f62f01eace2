// Finds the known word that a mistyped one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coracle::base {

// How many single letters have to be inserted, removed, replaced or swapped with their neighbour, case ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Words further away than this are no spelling of `word`.
std::size_t typo_distance(std::string_view word);

// The nearest of `candidates` (any range of strings), the first of equals; nothing where none is near.
template <class Range>
std::optional<std::string> nearest_word(std::string_view word, const Range& candidates) {
    std::optional<std::string> best;
    std::size_t best_distance = typo_distance(word) + 1;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = std::string(candidate);
    }
    return best;
}

// "did you mean 'read_only'?", or `otherwise` where nothing is near: made to be an Error's hint.
template <class Range>
std::string did_you_mean(std::string_view word, const Range& candidates, std::string_view otherwise = {}) {
    const auto best = nearest_word(word, candidates);
    return best ? "did you mean '" + *best + "'?" : std::string(otherwise);
}

}  // namespace coracle::base
