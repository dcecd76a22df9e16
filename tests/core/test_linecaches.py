import inspect
import math

import numpy as np

from s2s.frontend import sources
from s2s.versions.target import synthetic


def test_functions_of_one_name_keep_their_own_text():
    arrays, numbers = synthetic(np.sin, 1, ()), synthetic(math.sin, 1, ())
    assert arrays.__name__ == numbers.__name__
    assert "np.sin(" in inspect.getsource(arrays)
    assert "math.sin(" in inspect.getsource(numbers)
    assert "np.sin(" in sources.find(arrays).text
