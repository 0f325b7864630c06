#include "base/distributions.h"

// These headers take four seconds to compile: no other file includes them.
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace zerotax {

double student_quantile(double tail, double degrees_of_freedom) {
  const boost::math::students_t distribution(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(distribution, tail));
}

Interval binomial_interval(std::size_t hits, std::size_t trials) {
  constexpr double kTail = 0.025;
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(hits);
  return {boost::math::binomial::find_lower_bound_on_p(n, k, kTail),
          boost::math::binomial::find_upper_bound_on_p(n, k, kTail)};
}

}  // namespace zerotax
