// The seeds of training that a file lists.
#pragma once

#include <string>

#include "client/types/result.h"
#include "client/types/seed_values.h"
#include "partition/schema/schema.h"

namespace vicinity {

// The ids of the import that the file has, one a line: UserIds, or UserNames of a type whose ids
// are strings, each its line as it is. Lines may end in CR LF. kNotFound if it cannot be read;
// kInvalidArgument naming a line that is empty or, of a type whose ids are integers, none.
Result<SeedList> ReadSeedFile(const std::string& path, const NodeTypeSpec& type);

}  // namespace vicinity
