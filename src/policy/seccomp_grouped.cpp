// Reads coracle's own form of a seccomp profile and lowers its groups to rules.
#include <algorithm>
#include <map>
#include <set>

#include "base/did_you_mean.hpp"
#include "base/try.hpp"
#include "policy/capabilities.hpp"
#include "policy/number_blocks.hpp"
#include "policy/seccomp_forms.hpp"
#include "policy/seccomp_words.hpp"

namespace coracle::policy {

namespace {

constexpr std::uint64_t low_half = 0xffffffff;
constexpr std::array<std::string_view, 5> plain_answers{"allow", "log", "trap", "kill_thread", "kill_process"};

// Which values of an argument make a group's calls get its answer.
struct Condition {
    enum class Kind { in, not_in, without_bits } kind = Kind::in;
    std::uint32_t index = 0;
    std::set<std::uint32_t> numbers;  // for without_bits: the bits, one by one
};

struct Group {
    std::vector<std::string> names;
    SeccompAction answer;
    std::optional<Condition> condition;
    std::optional<SeccompAction> otherwise;  // of the values that do not meet the condition
};

Result<SeccompAction> read_answer(const Place& place) {
    TRY(const std::string word, place.text());
    constexpr std::array<SeccompVerdict, 5> verdicts{SeccompVerdict::allow, SeccompVerdict::log, SeccompVerdict::trap,
                                                     SeccompVerdict::kill_thread, SeccompVerdict::kill_process};
    const auto plain = std::find(plain_answers.begin(), plain_answers.end(), word);
    if (plain != plain_answers.end()) {
        return SeccompAction{verdicts[static_cast<std::size_t>(plain - plain_answers.begin())], 0};
    }
    if (const auto error = errno_of(word)) return SeccompAction{SeccompVerdict::fail, *error};
    return place.wrong(
        "unknown answer '" + word.substr(0, 64) + "'",
        base::did_you_mean(word, plain_answers, "write allow, log, trap, kill_process or an errno like EPERM"));
}

// {"AF_UNIX": 1, "AF_INET": 2}: the names are for the reader.
Result<std::set<std::uint32_t>> read_numbers(const Place& place) {
    if (!place.value().is_object() || place.value().empty() || place.value().size() > 256) {
        return place.wrong("not an object of 1 to 256 names with their numbers");
    }
    std::set<std::uint32_t> numbers;
    for (const auto& [name, unused] : place.value().items()) {
        TRY(const Place member, place.need(name));
        TRY(const std::uint64_t number, member.number(low_half));
        numbers.insert(static_cast<std::uint32_t>(number));
    }
    return numbers;
}

Result<Condition> read_condition(const Place& place) {
    TRY_OK(place.only({"index", "in", "not_in", "without_bits"}));
    TRY(const Place index_place, place.need("index"));
    TRY(const std::uint64_t index, index_place.number(5));
    Condition condition{.kind = Condition::Kind::in, .index = static_cast<std::uint32_t>(index), .numbers = {}};
    constexpr std::array<std::pair<const char*, Condition::Kind>, 3> kinds{
        {{"in", Condition::Kind::in},
         {"not_in", Condition::Kind::not_in},
         {"without_bits", Condition::Kind::without_bits}}};
    std::size_t found = 0;
    for (const auto& [key, kind] : kinds) {
        const auto member = place.find(key);
        if (!member) continue;
        TRY(condition.numbers, read_numbers(*member));
        condition.kind = kind;
        ++found;
    }
    if (found != 1) return place.wrong("has not exactly one of 'in', 'not_in' and 'without_bits'");
    return condition;
}

Result<Group> read_group(const Place& place) {
    TRY_OK(place.only({"about", "names", "answer", "argument", "else", "with_capability"}));
    Group group;
    TRY(const Place names, place.need("names"));
    TRY(group.names, names.texts());
    if (group.names.empty()) return names.wrong("names no call");
    TRY_OK(check_call_names(names, group.names));
    TRY(const Place answer, place.need("answer"));
    TRY(group.answer, read_answer(answer));
    const auto argument = place.find("argument");
    if (argument) {
        TRY(group.condition, read_condition(*argument));
    }
    if (const auto otherwise = place.find("else")) {
        if (!argument) return otherwise->wrong("has a meaning only together with 'argument'");
        TRY(group.otherwise, read_answer(*otherwise));
    }
    return group;
}

// A group `with_capability` is for programs that have it.
Result<bool> applies(const Place& group, const std::vector<std::string>& capabilities) {
    const auto needed = group.find("with_capability");
    if (!needed) return true;
    TRY(const std::string word, needed->text());
    auto name = parse_capability(word);
    if (!name) return std::move(name).error().within(needed->path());
    return std::find(capabilities.begin(), capabilities.end(), name.value()) != capabilities.end();
}

Result<std::vector<Group>> read_groups(const Place& profile, const std::vector<std::string>& capabilities) {
    std::vector<Group> groups;
    const auto list = profile.find("groups");
    if (!list) return groups;
    TRY(const std::vector<Place> places, list->elements());
    for (const Place& place : places) {
        TRY(Group group, read_group(place));
        TRY(const bool holds, applies(place, capabilities));
        if (holds) groups.push_back(std::move(group));
    }
    return groups;
}

ArgumentTest masked(std::uint32_t index, std::uint32_t mask, std::uint32_t value) {
    return {.index = index, .comparison = Comparison::masked_equal, .value = mask, .value_two = value};
}

std::vector<ArgumentTest> tests_in(const Condition& condition) {
    std::vector<ArgumentTest> tests;
    for (const std::uint32_t number : condition.numbers) {
        tests.push_back(masked(condition.index, static_cast<std::uint32_t>(low_half), number));
    }
    return tests;
}

std::vector<ArgumentTest> tests_not_in(const Condition& condition) {
    std::vector<ArgumentTest> tests;
    for (const NumberBlock& block : blocks_without(condition.numbers)) {
        tests.push_back(masked(condition.index, block.mask, block.value));
    }
    return tests;
}

ArgumentTest test_without_bits(const Condition& condition) {
    std::uint32_t all = 0;
    for (const std::uint32_t bits : condition.numbers) all |= bits;
    return masked(condition.index, all, 0);
}

std::vector<ArgumentTest> tests_with_bits(const Condition& condition) {
    std::vector<ArgumentTest> tests;
    for (const std::uint32_t bits : condition.numbers) {
        for (std::uint32_t bit = 1; bit != 0; bit <<= 1U) {
            if ((bits & bit) != 0) tests.push_back(masked(condition.index, bit, bit));
        }
    }
    return tests;
}

// The tests that a call with the answer passes, and those of a call without it: one of either list always holds.
std::vector<ArgumentTest> meeting(const Condition& condition) {
    switch (condition.kind) {
        case Condition::Kind::in: return tests_in(condition);
        case Condition::Kind::not_in: return tests_not_in(condition);
        case Condition::Kind::without_bits: return {test_without_bits(condition)};
    }
    return {};
}

std::vector<ArgumentTest> missing(const Condition& condition) {
    switch (condition.kind) {
        case Condition::Kind::in: return tests_not_in(condition);
        case Condition::Kind::not_in: return tests_in(condition);
        case Condition::Kind::without_bits: return tests_with_bits(condition);
    }
    return {};
}

void lower_group(const Group& group, std::vector<SeccompRule>& rules) {
    if (!group.condition) {
        rules.push_back({group.names, group.answer, {}});
        return;
    }
    for (const ArgumentTest& test : meeting(*group.condition)) rules.push_back({group.names, group.answer, {test}});
    if (!group.otherwise) return;
    for (const ArgumentTest& test : missing(*group.condition)) rules.push_back({group.names, *group.otherwise, {test}});
}

// The last group that names a call decides it alone.
std::vector<SeccompRule> lower(std::vector<Group> groups) {
    std::map<std::string, std::size_t> decider;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        for (const std::string& name : groups[i].names) decider[name] = i;
    }
    std::vector<SeccompRule> rules;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::vector<std::string> kept;
        for (const std::string& name : groups[i].names) {
            if (decider[name] == i && std::find(kept.begin(), kept.end(), name) == kept.end()) kept.push_back(name);
        }
        groups[i].names = std::move(kept);
        if (!groups[i].names.empty()) lower_group(groups[i], rules);
    }
    return rules;
}

struct Reading {
    std::optional<SeccompAction> otherwise;
    std::vector<Group> groups;
};

Result<> read_into(Reading& reading, const Json& object, const std::vector<std::string>& capabilities) {
    const Place profile(object, "");
    TRY_OK(profile.only({"format", "about", "base", "otherwise", "groups"}));
    if (const auto otherwise = profile.find("otherwise")) {
        TRY(reading.otherwise, read_answer(*otherwise));
    }
    TRY(std::vector<Group> groups, read_groups(profile, capabilities));
    std::move(groups.begin(), groups.end(), std::back_inserter(reading.groups));
    return {};
}

// Only the profiles that are built in can be a base, and they have none themselves: one step, no cycles.
Result<> read_base(Reading& reading, const Place& base, const std::vector<std::string>& capabilities) {
    TRY(const std::string name, base.text());
    const auto text = embedded_seccomp(name);
    if (!text) {
        return base.wrong("no profile '" + name.substr(0, 64) + "' is built in",
                          base::did_you_mean(name, embedded_seccomp_names()));
    }
    TRY(const Json object, parse_object(*text));
    return read_into(reading, object, capabilities);
}

}  // namespace

Result<SeccompProfile> read_grouped_form(const Json& object, const std::vector<std::string>& capabilities) {
    const Place profile(object, "");
    TRY(const Place format, profile.need("format"));
    TRY(const std::string format_name, format.text());
    if (format_name != "coracle-seccomp-1") return format.wrong("is not 'coracle-seccomp-1'");
    Reading reading;
    if (const auto base = profile.find("base")) TRY_OK(read_base(reading, *base, capabilities));
    TRY_OK(read_into(reading, object, capabilities));
    if (!reading.otherwise) return profile.wrong("'otherwise' is missing: the answer of calls that no group names");
    return SeccompProfile{*reading.otherwise, lower(std::move(reading.groups))};
}

}  // namespace coracle::policy
