// Writes `process`: who the program is and what it may do.
#include "runtime_config/parts.hpp"

namespace coracle::runtime_config {

namespace {

Json user_part(const plan::Identity& user) {
    Json part = {{"uid", user.uid}, {"gid", user.gid}};
    if (!user.additional_gids.empty()) part["additionalGids"] = user.additional_gids;
    return part;
}

// A set that is left out is not empty for every runtime, so all five are named. Ambient, so that a program that is not
// root has its capabilities too.
Json capabilities_part(const std::vector<std::string>& names) {
    Json part = Json::object();
    for (const char* set : {"bounding", "effective", "inheritable", "permitted", "ambient"}) part[set] = names;
    return part;
}

Json rlimits_part(const std::vector<plan::Rlimit>& rlimits) {
    Json part = Json::array();
    for (const plan::Rlimit& limit : rlimits) {
        part.push_back({{"type", limit.type}, {"hard", limit.hard}, {"soft", limit.soft}});
    }
    return part;
}

}  // namespace

Json process_part(const plan::Process& process, const Program& program) {
    return {{"terminal", false},
            {"user", user_part(process.user)},
            {"args", program.args},
            {"env", program.env},
            {"cwd", program.cwd},
            {"capabilities", capabilities_part(process.capabilities)},
            {"rlimits", rlimits_part(process.rlimits)},
            {"noNewPrivileges", true}};
}

}  // namespace coracle::runtime_config
