import pytest
from tests.contracts.cases import Case, make


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    return make(*request.param)
