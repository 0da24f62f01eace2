// Writes `linux.seccomp`: the profile's rules in the words of the OCI runtime specification.
#include "policy/seccomp_words.hpp"
#include "runtime_config/parts.hpp"

namespace coracle::runtime_config {

namespace {

Json test_part(const policy::ArgumentTest& test) {
    Json part = {{"index", test.index}, {"value", test.value}};
    if (test.comparison == policy::Comparison::masked_equal) part["valueTwo"] = test.value_two;
    part["op"] = policy::word_of(policy::comparison_words, test.comparison);
    return part;
}

Json rule_part(const policy::SeccompRule& rule) {
    Json part = {{"names", rule.names}, {"action", policy::word_of(policy::verdict_words, rule.action.verdict)}};
    if (rule.action.verdict == policy::SeccompVerdict::fail) part["errnoRet"] = rule.action.error;
    for (const policy::ArgumentTest& test : rule.tests) part["args"].push_back(test_part(test));
    return part;
}

}  // namespace

Json seccomp_part(const policy::SeccompProfile& profile) {
    const policy::SeccompAction& otherwise = profile.default_action;
    Json part = {{"defaultAction", policy::word_of(policy::verdict_words, otherwise.verdict)}};
    if (otherwise.verdict == policy::SeccompVerdict::fail) part["defaultErrnoRet"] = otherwise.error;
    part["architectures"] = Json::array({policy::native_seccomp_arch});
    part["syscalls"] = Json::array();
    for (const policy::SeccompRule& rule : profile.rules) part["syscalls"].push_back(rule_part(rule));
    return part;
}

}  // namespace coracle::runtime_config
