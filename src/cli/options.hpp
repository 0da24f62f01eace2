// Options as rows of a table, and the one function that reads an argument list by them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coracle/error.hpp"

namespace coracle::cli {

inline constexpr std::string_view global_group = "Global options";
inline constexpr std::string_view hidden_group = "";  // known, but --help does not show it

// One option: how it is spelled, what it takes, what it does to the Target. A row without a value name is a flag.
template <class Target>
struct OptionRow {
    std::string_view names;  // "-m,--memory": the long name last, it is the one that errors name
    std::string_view value;  // "SIZE"
    std::string_view group;  // its heading in --help
    std::string_view help;
    Result<> (*apply)(Target& target, const std::string& value);
};

// A row tied to the object that it changes.
struct BoundOption {
    std::string_view names;
    std::string_view value;
    std::string_view group;
    std::string_view help;
    std::function<Result<>(const std::string&)> apply;
};

template <class Target, std::size_t N>
void bind_rows(std::vector<BoundOption>& options, const OptionRow<Target> (&rows)[N], Target& target) {
    for (const auto& row : rows) {
        options.push_back({row.names, row.value, row.group, row.help,
                           [&row, &target](const std::string& value) { return row.apply(target, value); }});
    }
}

// What --help says around the options.
struct CommandText {
    std::string_view usage;  // "coracle images [OPTIONS]"
    std::string_view about;
    std::string_view examples;  // printed as they stand, last
};

enum class OptionsEnd {
    at_first_word,  // what follows the first word belongs to it, option or not
    at_dashes,      // options and words may be mixed up to a "--"
};

struct ParsedWords {
    bool help = false;
    std::string help_text;           // where help was asked for
    std::vector<std::string> words;  // without the "--" of at_dashes; with at_first_word it stays, if it comes first
};

// Applies the options in the order given; a later one wins. An error names the option and, where one is near, the one
// that was meant. The options that were understood are applied even then, so that --json shapes the error.
Result<ParsedWords> parse_words(const CommandText& text, std::span<const BoundOption> options, OptionsEnd end,
                                const std::vector<std::string>& args);

}  // namespace coracle::cli
