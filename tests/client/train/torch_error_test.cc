#include "client/train/torch_error.h"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace vicinity {

TEST_CASE("what is thrown becomes an error that says where", "[torch_error]") {
  const auto of = [](const auto& work) {
    return CatchTorch(ErrorCode::kUnavailable, "step 7", work);
  };
  CHECK(of([] {}).ok());
  CHECK(of([] { return Error(ErrorCode::kNotFound, "x"); }).code() == ErrorCode::kNotFound);
  const Error plain = of([] { throw std::runtime_error("gone"); });
  CHECK(plain.code() == ErrorCode::kUnavailable);
  CHECK(plain.message() == "step 7: gone");
  const Error torch = of([] { TORCH_CHECK(false, "bad shape"); });
  CHECK(torch.code() == ErrorCode::kUnavailable);
  CHECK(torch.message() == "step 7: bad shape");
}

}  // namespace vicinity
