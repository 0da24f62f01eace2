// Owns the folder on the store's disk that takes what a run writes, where that is more than memory shall hold.
#pragma once

#include <optional>
#include <string>

#include "content/store.hpp"
#include "coracle/error.hpp"
#include "plan/plan.hpp"

namespace coracle::engine {

class DiskScratch {
public:
    // Makes none where the plan needs none.
    static Result<DiskScratch> create(const content::Store& store, const plan::ExecutionPlan& plan);

    DiskScratch(DiskScratch&&) noexcept = default;
    DiskScratch& operator=(DiskScratch&&) = delete;
    ~DiskScratch();  // with what is in it; what a killed owner leaves is the store's next sweep's

    std::string path() const;  // empty: there is none

private:
    DiskScratch(std::filesystem::path store, std::optional<content::Scratch> folder, const plan::ExecutionPlan& plan)
        : store_(std::move(store)), folder_(std::move(folder)), ownership_(plan.ownership), maps_(plan.id_maps) {}

    std::filesystem::path store_;
    std::optional<content::Scratch> folder_;
    plan::Ownership ownership_;
    base::IdMaps maps_;
};

}  // namespace coracle::engine
