// Parses and prints sizes, processor shares and durations.
#include "coracle/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace coracle {

namespace {

// A decimal number without sign or exponent, as its integer part and its first nine fractional digits.
struct Decimal {
    std::uint64_t whole = 0;
    std::uint64_t nano = 0;
};

// Takes the number from the front of `text`. No value: there is none, or it does not fit.
std::optional<Decimal> take_decimal(std::string_view& text) {
    Decimal number;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number.whole);
    if (error != std::errc() || after == text.data()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    if (text.empty() || text.front() != '.') return number;
    text.remove_prefix(1);
    std::uint64_t weight = 100'000'000;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        number.nano += static_cast<std::uint64_t>(text[digits] - '0') * weight;
        weight /= 10;
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
    return number;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

struct UnitName {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<UnitName, 15> size_units{{{"", 1},
                                               {"b", 1},
                                               {"k", 1ULL << 10U},
                                               {"kb", 1ULL << 10U},
                                               {"kib", 1ULL << 10U},
                                               {"m", 1ULL << 20U},
                                               {"mb", 1ULL << 20U},
                                               {"mib", 1ULL << 20U},
                                               {"g", 1ULL << 30U},
                                               {"gb", 1ULL << 30U},
                                               {"gib", 1ULL << 30U},
                                               {"t", 1ULL << 40U},
                                               {"tb", 1ULL << 40U},
                                               {"tib", 1ULL << 40U},
                                               {"bytes", 1}}};

constexpr std::array<UnitName, 6> time_units{{{"ns", 1},
                                              {"us", 1'000},
                                              {"ms", 1'000'000},
                                              {"s", 1'000'000'000},
                                              {"m", 60'000'000'000},
                                              {"h", 3'600'000'000'000}}};

template <std::size_t N>
std::optional<std::uint64_t> factor_of(const std::array<UnitName, N>& units, std::string_view name) {
    for (const auto& unit : units) {
        if (unit.name == name) return unit.factor;
    }
    return std::nullopt;
}

constexpr std::uint64_t nano = 1'000'000'000;

// whole.nano * factor, or nothing where it does not fit into 63 bits.
std::optional<std::uint64_t> scaled(const Decimal& number, std::uint64_t factor) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (factor != 0 && number.whole > most / factor) return std::nullopt;
    const auto fraction = static_cast<std::uint64_t>(static_cast<long double>(number.nano) / nano * factor);
    const std::uint64_t whole = number.whole * factor;
    if (whole > most - fraction) return std::nullopt;
    return whole + fraction;
}

Error bad(std::string_view kind, std::string_view text, std::string_view examples) {
    return make_error(ErrorCode::invalid_request, "'" + std::string(text) + "' is not a " + std::string(kind),
                      "write it like " + std::string(examples));
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
    std::string_view rest = text;
    const auto number = take_decimal(rest);
    const auto factor = factor_of(size_units, lower(rest));
    if (number && factor) {
        if (const auto count = scaled(*number, *factor); count && *count > 0) return Bytes{*count};
    }
    return bad("size", text, "64k, 512m or 1.5g");
}

Result<Cpus> parse_cpus(std::string_view text) {
    std::string_view rest = text;
    const auto number = take_decimal(rest);
    if (number && rest.empty() && number->whole <= 100'000) {
        const std::uint64_t milli = number->whole * 1000 + number->nano / 1'000'000;
        if (milli > 0 && number->nano % 1'000'000 == 0) return Cpus{static_cast<std::uint32_t>(milli)};
    }
    return bad("number of CPUs", text, "1, 0.5 or 1.25");
}

Result<Duration> parse_duration(std::string_view text) {
    std::uint64_t total = 0;
    std::string_view rest = text;
    bool good = !text.empty();
    while (good && !rest.empty()) {
        const auto number = take_decimal(rest);
        std::size_t letters = 0;
        while (letters < rest.size() && (rest[letters] < '0' || rest[letters] > '9')) ++letters;
        const std::string name = lower(rest.substr(0, letters));
        // A bare number is seconds, but only as the whole text: "1m30" would be a guess.
        const bool bare = name.empty() && total == 0 && letters == rest.size();
        const auto factor = bare ? std::optional(nano) : factor_of(time_units, name);
        rest.remove_prefix(letters);
        const auto part = number && factor ? scaled(*number, *factor) : std::nullopt;
        // Two parts of at most 2^63 - 1 fit into 64 bits; the sum must fit into 63 again.
        total += part.value_or(0);
        good = part && total <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    }
    if (good && total > 0) return Duration(static_cast<std::int64_t>(total));
    return bad("duration", text, "2s, 500ms, 1m30s or 300 (seconds)");
}

Result<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
    constexpr unsigned most = 8191;  // CONFIG_NR_CPUS is at most 8192
    std::set<unsigned> cpus;
    std::string_view rest = text;
    const auto take_number = [&rest]() -> std::optional<unsigned> {
        unsigned number = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (error != std::errc() || number > most) return std::nullopt;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return number;
    };
    bool good = !text.empty();
    while (good) {
        const auto first = take_number();
        auto last = first;
        if (first && rest.starts_with('-')) {
            rest.remove_prefix(1);
            last = take_number();
        }
        good = first && last && *first <= *last;
        for (unsigned cpu = first.value_or(1); good && cpu <= *last; ++cpu) cpus.insert(cpu);
        if (!good || rest.empty()) break;
        good = rest.starts_with(',');
        rest.remove_prefix(1);
    }
    if (!good) return bad("list of CPUs", text, "0, 0-3 or 0-2,5");
    return std::vector(cpus.begin(), cpus.end());
}

std::string to_string(const std::vector<unsigned>& cpus) {
    std::string text;
    for (std::size_t at = 0; at < cpus.size();) {
        std::size_t last = at;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(cpus[at]);
        if (last > at) text += "-" + std::to_string(cpus[last]);
        at = last + 1;
    }
    return text;
}

std::string to_string(Bytes size) {
    constexpr std::array<std::pair<unsigned, char>, 4> shifts{{{40, 't'}, {30, 'g'}, {20, 'm'}, {10, 'k'}}};
    for (const auto& [shift, letter] : shifts) {
        if (size.count != 0 && (size.count & ((1ULL << shift) - 1)) == 0) {
            return std::to_string(size.count >> shift) + letter;
        }
    }
    return std::to_string(size.count);
}

std::string to_string(Cpus cpus) {
    std::string text = std::to_string(cpus.milli / 1000);
    if (const std::uint32_t rest = cpus.milli % 1000; rest != 0) {
        std::string digits = std::to_string(1000 + rest).substr(1);
        digits.erase(digits.find_last_not_of('0') + 1);
        text += "." + digits;
    }
    return text;
}

std::string to_string(Duration duration) {
    const auto count = static_cast<std::uint64_t>(duration.count());
    if (count % nano == 0) return std::to_string(count / nano) + "s";
    if (count % 1'000'000 == 0) return std::to_string(count / 1'000'000) + "ms";
    if (count % 1'000 == 0) return std::to_string(count / 1'000) + "us";
    return std::to_string(count) + "ns";
}

}  // namespace coracle
