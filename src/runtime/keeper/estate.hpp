// What a run owns outside the keeper's namespaces.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace coracle::runtime::keeper {

// Removed by the keeper when coracle is gone and cannot do it.
class Estate {
public:
    // argv: program, run id, runs directory, parents of the run's cgroup. Opened now, before any mount hides them; a
    // parent that is not there is the scope for which coracle is about to ask the user's service manager.
    Estate(int argc, char** argv);
    // Everything in the run must be dead. On return this process may end.
    void remove() const;

private:
    std::string id_;
    std::string stage_;
    std::vector<base::UniqueFd> parents_;  // the runs directory first
    std::string scope_;                    // the name of the scope's directory; empty: there is none
};

}  // namespace coracle::runtime::keeper
