// Reads a seccomp profile in the form of Docker (`includes`, `excludes`, `archMap`) or of the OCI runtime
// specification.
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/did_you_mean.hpp"
#include "base/try.hpp"
#include "policy/capabilities.hpp"
#include "policy/seccomp_forms.hpp"
#include "policy/seccomp_words.hpp"

namespace coracle::policy {

namespace {

constexpr std::uint64_t largest_errno = 4095;  // MAX_ERRNO, include/linux/err.h

std::vector<std::string_view> names_of(const auto& words) {
    std::vector<std::string_view> names;
    for (const auto& word : words) names.push_back(word.name);
    return names;
}

// The action word of `action_key`, with the errno of `errno_key` (EPERM where none is given, as runc has it).
Result<SeccompAction> read_action(const Place& object, const std::string& action_key, const std::string& errno_key) {
    TRY(const Place place, object.need(action_key));
    TRY(const std::string word, place.text());
    if (word == "SCMP_ACT_NOTIFY" || word == "SCMP_ACT_TRACE") {
        return place.wrong(word + " needs a supervisor that answers the calls, coracle has none",
                           "write SCMP_ACT_ERRNO to deny or SCMP_ACT_ALLOW to permit");
    }
    const auto verdict = find_word(verdict_words, word);
    if (!verdict) {
        return place.wrong("unknown action '" + word.substr(0, 64) + "'",
                           base::did_you_mean(word, names_of(verdict_words)));
    }
    SeccompAction action{*verdict, 0};
    if (action.verdict != SeccompVerdict::fail) return action;
    action.error = EPERM;
    if (const auto error = object.find(errno_key)) {
        TRY(const std::uint64_t number, error->number(largest_errno));
        action.error = static_cast<std::uint16_t>(number);
    }
    return action;
}

Result<ArgumentTest> read_test(const Place& place) {
    ArgumentTest test;
    TRY(const Place index, place.need("index"));
    TRY(const std::uint64_t number, index.number(5));
    test.index = static_cast<std::uint32_t>(number);
    TRY(const Place value, place.need("value"));
    TRY(test.value, value.number(UINT64_MAX));
    if (const auto second = place.find("valueTwo")) {
        TRY(test.value_two, second->number(UINT64_MAX));
    }
    TRY(const Place op, place.need("op"));
    TRY(const std::string word, op.text());
    const auto comparison = find_word(comparison_words, word);
    if (!comparison) {
        return op.wrong("unknown comparison '" + word.substr(0, 64) + "'",
                        base::did_you_mean(word, names_of(comparison_words)));
    }
    test.comparison = *comparison;
    return test;
}

Result<std::vector<ArgumentTest>> read_tests(const Place& rule) {
    std::vector<ArgumentTest> tests;
    const auto list = rule.find("args");
    if (!list) return tests;
    TRY(const std::vector<Place> places, list->elements());
    for (const Place& place : places) {
        TRY(const ArgumentTest test, read_test(place));
        tests.push_back(test);
    }
    return tests;
}

// "4.8" -> 4008; nothing for what is no version.
std::optional<unsigned> version_number(std::string_view text) {
    unsigned major = 0;
    unsigned minor = 0;
    const char* const end = text.data() + text.size();
    const auto [dot, major_error] = std::from_chars(text.data(), end, major);
    if (major_error != std::errc() || dot == end || *dot != '.') return std::nullopt;
    const auto [after, minor_error] = std::from_chars(dot + 1, end, minor);
    if (minor_error != std::errc() || major > 1000 || minor > 999) return std::nullopt;
    return major * 1000 + minor;
}

Result<bool> kernel_is_at_least(const Place& place) {
    TRY(const std::string text, place.text());
    const auto wanted = version_number(text);
    if (!wanted) return place.wrong("'" + text.substr(0, 64) + "' is not a kernel version like 4.8");
    struct utsname running {};
    if (::uname(&running) != 0) return os_error("uname", errno);
    return version_number(running.release).value_or(0) >= *wanted;
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

Result<std::vector<std::string>> read_capabilities(const Place& condition) {
    TRY(const std::vector<std::string> words, texts_or_none(condition, "caps"));
    std::vector<std::string> names;
    for (const std::string& word : words) {
        auto name = parse_capability(word);
        if (!name) return std::move(name).error().within(condition.path() + ".caps");
        names.push_back(std::move(name).value());
    }
    return names;
}

// Docker's reading (profiles/seccomp of moby): every capability of `includes` must be there, one of `excludes` is
// enough to drop the rule; the same for architectures, of which a machine has one.
Result<bool> is_included(const Place& includes, const std::vector<std::string>& capabilities) {
    TRY(const std::vector<std::string> arches, texts_or_none(includes, "arches"));
    if (!arches.empty() && !contains(arches, native_go_arch)) return false;
    TRY(const std::vector<std::string> needed, read_capabilities(includes));
    for (const std::string& name : needed) {
        if (!contains(capabilities, name)) return false;
    }
    const auto kernel = includes.find("minKernel");
    return kernel ? kernel_is_at_least(*kernel) : Result<bool>(true);
}

Result<bool> is_excluded(const Place& excludes, const std::vector<std::string>& capabilities) {
    TRY(const std::vector<std::string> arches, texts_or_none(excludes, "arches"));
    if (contains(arches, native_go_arch)) return true;
    TRY(const std::vector<std::string> named, read_capabilities(excludes));
    if (std::any_of(named.begin(), named.end(), [&](const auto& name) { return contains(capabilities, name); }))
        return true;
    const auto kernel = excludes.find("minKernel");
    return kernel ? kernel_is_at_least(*kernel) : Result<bool>(false);
}

Result<bool> applies(const Place& rule, const std::vector<std::string>& capabilities) {
    if (const auto includes = rule.find("includes")) {
        TRY(const bool included, is_included(*includes, capabilities));
        if (!included) return false;
    }
    if (const auto excludes = rule.find("excludes")) {
        TRY(const bool excluded, is_excluded(*excludes, capabilities));
        return !excluded;
    }
    return true;
}

// `names`, or the single `name` of profiles before Docker 1.12.
Result<std::vector<std::string>> read_names(const Place& rule) {
    TRY(std::vector<std::string> names, texts_or_none(rule, "names"));
    if (const auto single = rule.find("name")) {
        TRY(std::string name, single->text());
        names.push_back(std::move(name));
    }
    if (names.empty()) return rule.wrong("names no call");
    TRY_OK(check_call_names(rule, names));
    return names;
}

bool repeats_an_index(const std::vector<ArgumentTest>& tests) {
    std::array<unsigned, 6> seen{};
    return std::any_of(tests.begin(), tests.end(), [&](const ArgumentTest& test) { return seen[test.index]++ > 0; });
}

// libseccomp takes one test an argument. Where a rule has two of one argument, runc reads all its tests as
// alternatives (libcontainer/seccomp, matchCall), and users' profiles are written for runc.
void add_rule(SeccompRule rule, std::vector<SeccompRule>& rules) {
    if (!repeats_an_index(rule.tests)) {
        rules.push_back(std::move(rule));
        return;
    }
    for (const ArgumentTest& test : rule.tests) rules.push_back({rule.names, rule.action, {test}});
}

Result<> read_rule(const Place& place, const std::vector<std::string>& capabilities, std::vector<SeccompRule>& rules) {
    SeccompRule rule;
    TRY(rule.names, read_names(place));
    TRY(rule.action, read_action(place, "action", "errnoRet"));
    TRY(rule.tests, read_tests(place));
    TRY(const bool holds, applies(place, capabilities));
    if (holds) add_rule(std::move(rule), rules);
    return {};
}

// Other architectures of the list are left out: their calls end the program whatever the profile says of them.
Result<> check_architecture(const Place& profile) {
    TRY(const std::vector<std::string> arches, texts_or_none(profile, "architectures"));
    if (arches.empty() || contains(arches, native_seccomp_arch)) return {};
    return profile.wrong("architectures: " + std::string(native_seccomp_arch) + ", that of this machine, is missing");
}

}  // namespace

Result<SeccompProfile> read_oci_form(const Json& object, const std::vector<std::string>& capabilities) {
    const Place place(object, "");
    TRY_OK(check_architecture(place));
    if (place.find("listenerPath"))
        return place.wrong("listenerPath: coracle has no listener for the calls of a sandbox");
    SeccompProfile profile;
    TRY(profile.default_action, read_action(place, "defaultAction", "defaultErrnoRet"));
    if (const auto list = place.find("syscalls")) {
        TRY(const std::vector<Place> rules, list->elements());
        for (const Place& rule : rules) TRY_OK(read_rule(rule, capabilities, profile.rules));
    }
    return profile;
}

}  // namespace coracle::policy
