// The parts of a config.json, one small file each; key order as in the OCI runtime specification's text.
#pragma once

#include <nlohmann/json.hpp>

#include "plan/plan.hpp"
#include "policy/seccomp.hpp"

namespace coracle::runtime_config {

using Json = nlohmann::ordered_json;

// process.cpp: `process` with everything the two forms share; args, env and cwd are the form's.
struct Program {
    std::vector<std::string> args;
    std::vector<std::string> env;
    std::string cwd;
};
Json process_part(const plan::Process& process, const Program& program);

// mounts.cpp: `mounts`.
// `scratch_path`: what the sources of mounts on the run's scratch lie below.
Json mounts_part(const std::vector<plan::Mount>& mounts, const std::string& scratch_path);

// namespaces.cpp: `linux.namespaces`, and the maps of a user namespace, empty where there is none.
Json namespaces_part(const plan::Namespaces& namespaces, bool user_namespace);
Json mappings_part(const std::vector<base::IdRange>& ranges);
// The maps of a user namespace of the run's own inside the keeper's: every id that is mapped there, to itself.
base::IdMaps nested_maps(const base::IdMaps& outer);

// resources.cpp: `linux.resources`, null where nothing is limited.
Json resources_part(const plan::ExecutionPlan& plan);

// seccomp.cpp: `linux.seccomp`.
Json seccomp_part(const policy::SeccompProfile& profile);

// pretty.cpp: the text for readers. Throws as dump() does where a text is not UTF-8.
std::string pretty_text(const Json& value);

}  // namespace coracle::runtime_config
