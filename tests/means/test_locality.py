import numpy as np
import pytest

from partita.means.locality import default_locality, locality_costs, posterior_numbers


@pytest.mark.parametrize(
    ("share", "ignored", "chosen_more"), [(0.2, 0.0717, 0.1401), (0.5, 0.1021, 0.0), (0.8, 0.2117, -0.1401)]
)
def test_costs_at_the_locality_of_the_paper(share, ignored, chosen_more):
    costs = locality_costs(share, share * (1.0 - share) - 0.01)
    assert costs == pytest.approx((ignored, chosen_more), abs=5e-5)
    assert default_locality(share) == pytest.approx(share * (1.0 - share) - 0.01)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_the_limits_of_the_locality(share):
    limit = share * (1.0 - share)
    local = locality_costs(share, limit * (1.0 - 1e-9))
    assert local == pytest.approx((0.0, 0.0), abs=1e-6)
    rho = limit * 1e-6
    alike = locality_costs(share, rho)
    entropy = -share * np.log(share) - (1.0 - share) * np.log(1.0 - share)
    assert alike.ignored == pytest.approx(limit * entropy / rho, rel=1e-4)
    assert alike.chosen_more == pytest.approx(np.log((1.0 - share) / share), abs=1e-4)


@pytest.mark.parametrize("share", [0.01, 0.005, 0.99, 0.2])
def test_the_default_is_within_its_limits(share):
    rho = default_locality(share)
    assert 0.0 < rho < share * (1.0 - share)
    assert min(min(posterior_numbers(share, rho, v)) for v in (0, 1)) > 0.0


def test_of_all_columns_locality_says_nothing():
    assert locality_costs(1.0, 0.3) == (0.0, 0.0)
